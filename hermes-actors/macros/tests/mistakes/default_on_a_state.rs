#![allow(unused_imports)]

use hermes_actors::tool;
use hermes_actors::tool::State;

/// The weather.
#[tool]
fn get_weather(#[default(3)] pool: State<u8>) -> String {
    pool.to_string()
}

fn main() {}

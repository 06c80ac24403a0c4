#![allow(unused_imports)]

use hermes_actors::tool;
use hermes_actors::tool::{State, ToolContext};

/// The weather.
#[tool]
fn get_weather(pool: Option<State<u8>>, contexts: Vec<ToolContext>, by_reference: &State<u8>) -> String {
    format!("{pool:?} {contexts:?} {by_reference:?}")
}

fn main() {}

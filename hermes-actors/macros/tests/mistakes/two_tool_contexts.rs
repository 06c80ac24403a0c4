#![allow(unused_imports)]

use hermes_actors::tool;
use hermes_actors::tool::ToolContext;

/// The weather.
#[tool]
fn get_weather(one: &ToolContext, other: ToolContext) -> String {
    format!("{one:?} {other:?}")
}

fn main() {}

use hermes_actors::tool;

/// The weather.
#[tool(timeout = "5 seconds")]
fn get_weather() -> String {
    String::new()
}

fn main() {}

use hermes_actors::tool;

/// The weather.
#[tool(max_concurrent = 0)]
fn get_weather() -> String {
    String::new()
}

fn main() {}

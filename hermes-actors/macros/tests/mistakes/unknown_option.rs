use hermes_actors::tool;

/// The weather.
#[tool(readonly)]
fn get_weather() -> String {
    String::new()
}

fn main() {}

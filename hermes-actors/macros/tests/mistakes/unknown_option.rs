use hermes_actors::tool;

/// The weather.
#[tool(read_onyl)]
fn get_weather() -> String {
    String::new()
}

/// The weather.
#[tool(forecast)]
fn get_forecast() -> String {
    String::new()
}

fn main() {}

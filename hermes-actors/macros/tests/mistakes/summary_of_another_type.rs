use hermes_actors::tool;

fn short(days: &u8) -> String {
    days.to_string()
}

/// The weather.
#[tool(summary = short)]
fn get_weather() -> Vec<String> {
    Vec::new()
}

fn main() {}

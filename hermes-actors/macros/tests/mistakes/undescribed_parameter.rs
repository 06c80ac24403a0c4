use hermes_actors::tool;

/// The weather.
#[tool(read_only)]
fn get_weather(city: String, /** how many */ days: u8, unit: Option<String>) -> String {
    format!("{city} {days} {unit:?}")
}

fn main() {}

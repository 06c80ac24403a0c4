use hermes_actors::tool;

/// The weather.
#[tool]
async fn get_weather(city: &str, _days: Option<&[u8]>) -> String {
    city.to_owned()
}

fn main() {}

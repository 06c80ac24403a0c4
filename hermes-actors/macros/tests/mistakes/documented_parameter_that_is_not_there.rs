use hermes_actors::tool;

/// The weather.
///
/// # Arguments
/// - `town`: where
#[tool]
fn get_weather(city: String) -> String {
    city
}

fn main() {}

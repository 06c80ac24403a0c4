use hermes_actors::tool;

/// The weather.
#[tool]
fn get_weather<T: ToString>(city: T) -> String {
    city.to_string()
}

fn main() {}

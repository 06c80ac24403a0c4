use hermes_actors::tool;

struct Weather;

impl Weather {
    /// The weather.
    #[tool]
    fn get_weather(&self) -> String {
        String::new()
    }
}

fn main() {}

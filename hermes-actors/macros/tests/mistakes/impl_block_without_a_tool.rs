use hermes_actors::tool;

struct Weather;

#[tool(read_only)]
impl Weather {
    /// The weather.
    pub fn get_weather(&self) {}
}

fn main() {
    Weather.get_weather();
}

use hermes_actors::tool;

struct Weather;
struct Store<T>(T);

trait Station {
    fn get_weather(&self);
}

#[tool]
impl Station for Weather {
    /// The weather.
    #[tool]
    fn get_weather(&self) {}
}

#[tool]
impl<T> Store<T> {
    /// What is stored.
    #[tool]
    fn stored(&self) {}
}

fn main() {
    Weather.get_weather();
    Store(1).stored();
}

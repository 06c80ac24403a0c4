use hermes_actors::tool;

/// The weather.
#[tool]
struct Weather;

fn main() {
    let _ = Weather;
}

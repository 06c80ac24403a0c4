use hermes_actors::tool;

/// The weather.
#[tool]
fn get_weather(
    /// how many
    #[default(true)]
    days: u8,
) -> String {
    days.to_string()
}

fn main() {}

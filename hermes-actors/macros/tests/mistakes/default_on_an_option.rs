use hermes_actors::tool;

/// The weather.
#[tool]
fn get_weather(
    /// how many
    #[default(3)]
    days: Option<u8>,
) -> String {
    format!("{days:?}")
}

fn main() {}

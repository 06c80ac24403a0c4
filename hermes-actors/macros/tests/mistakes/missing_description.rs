use hermes_actors::tool;

#[tool(read_only)]
fn get_weather(city: String) -> String {
    city
}

fn main() {}

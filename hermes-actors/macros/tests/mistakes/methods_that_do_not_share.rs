use hermes_actors::tool;

struct Weather;

#[tool]
impl Weather {
    /// Of nobody.
    #[tool]
    fn without_self() {}

    /// Alone.
    #[tool]
    fn exclusive(&mut self) {}

    /// Once.
    #[tool]
    fn consuming(self) {}
}

fn main() {
    let _ = Weather;
}

use hermes_actors::tool;

struct Pool<T>(T);

/// Looks it up.
#[tool]
fn look_up(pool: Pool<Vec<u8>>) -> String {
    format!("{:?}", pool.0)
}

fn main() {}

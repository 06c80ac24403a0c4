use hermes_actors::tool;

/// 查天气。
#[tool]
fn 查天气() -> String {
    String::new()
}

fn main() {}

use hermes_actors::tool;

/// Deletes a file.
#[tool(read_only, destructive)]
fn delete(path: String) {
    drop(path)
}

fn main() {
    let _used_elsewhere = delete;
}

use hermes_actors::tool;

/// Pays.
#[tool(retries = 3)]
fn pay() {}

/// Deletes.
#[tool(destructive, retries = 3)]
fn delete() {}

fn main() {}

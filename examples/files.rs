//! List, read, summarise: an agent with the built-in file tools, confined to one folder.
//!
//! Offline it reads a folder that it makes itself; with a model behind it, give it a folder of yours: `--example files -- DIR`.

use std::path::PathBuf;

use hermes_actors::Agent;
use hermes_llm::{ScriptedModel, Step, from_env_or};
use hermes_tools::Files;
use serde_json::json;

const SYSTEM_PROMPT: &str = "You summarise folders: list them, read what matters, then say in three sentences what is \
    there and name the files that you read.";

/// A folder with two notes, gone with the program.
fn notes() -> anyhow::Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("shopping.txt"), "两斤苹果\n一把伞\n")?;
    std::fs::write(folder.path().join("plan.md"), "# Trip\n\nSofia on Monday, if it does not rain.\n")?;
    Ok(folder)
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .without_time()
        .with_level(false)
        .with_target(false)
        .init();
    let notes = notes()?;
    let root = std::env::args_os().nth(1).map_or_else(|| notes.path().to_owned(), PathBuf::from);
    let script = ScriptedModel::new([
        Step::call("list_directory", json!({"path": "."})),
        Step::call("read_file", json!({"path": "plan.md"})).expect_tool_result("plan.md"),
        Step::call("read_file", json!({"path": "shopping.txt"})).expect_tool_result("Sofia"),
        Step::text(
            "A trip to Sofia is planned for Monday (plan.md). An umbrella is on the list (shopping.txt).",
        )
        .expect_tool_result("一把伞"),
    ]);
    let mut builder = Agent::builder("librarian").system_prompt(SYSTEM_PROMPT).model(from_env_or(script)?);
    for tool in Files::below(&root)?.tools() {
        builder = builder.tool(tool);
    }
    let outcome = builder.build()?.run("What is in this folder?").await?;
    eprintln!("{}", outcome.summary());
    println!("{}", outcome.into_answer()?);
    Ok(())
}

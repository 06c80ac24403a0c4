//! Text as it comes, and everything else that happens meanwhile: two streams over one task.
//!
//! Readers are observers: slow ones, and ones that go away, change nothing.

use std::io::Write;
use std::time::Duration;

use hermes_actors::protocol::{LlmReplied, ToolProgress};
use hermes_actors::tool::ToolContext;
use hermes_actors::{Agent, TextStream, TraceStream, tool};
use hermes_llm::{ScriptedModel, Step, from_env_or};
use serde_json::json;

/// Reads a long poem. Use it when somebody asks for one.
///
/// # Arguments
/// - title: which
#[tool(read_only)]
async fn read_poem(title: String, context: ToolContext) -> String {
    for page in 1..=3 {
        context.progress_of(page, 3, format!("page {page} of {title}"));
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    "床前明月光，疑是地上霜。举头望明月，低头思故乡。".to_owned()
}

/// Prints what the model says, piece by piece.
async fn print(mut text: TextStream) {
    while let Some(piece) = text.next().await {
        print!("{piece}");
        let _ = std::io::stdout().flush();
    }
    println!();
}

/// Tells what else happens.
async fn tell(mut envelopes: TraceStream) {
    while let Ok(Some(envelope)) = envelopes.next().await {
        if let Ok(progress) = envelope.get::<ToolProgress>() {
            eprintln!("    … {}", progress.text);
        } else if let Ok(reply) = envelope.get::<LlmReplied>() {
            eprintln!("    {} tokens", reply.usage.output_tokens);
        }
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let script = ScriptedModel::new([
        Step::call("read_poem", json!({"title": "静夜思"})).usage(60, 9),
        Step::text("床前明月光，\n疑是地上霜。\n举头望明月，\n低头思故乡。")
            .streamed(Duration::from_millis(40))
            .usage(110, 30),
    ]);
    let agent = Agent::builder("reciter")
        .system_prompt("You recite poems. Read them first.")
        .model(from_env_or(script)?)
        .tool(read_poem)
        .build()?;
    let handle = agent.start("背一首李白的诗。").await?;
    let readers = (tokio::spawn(print(handle.text())), tokio::spawn(tell(handle.envelopes())));
    let outcome = handle.outcome().await;
    readers.0.await?;
    readers.1.await?;
    eprintln!("{}", outcome.summary());
    outcome.into_answer()?;
    Ok(())
}

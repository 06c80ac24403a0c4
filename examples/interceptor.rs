//! Two interceptors: a rule that refuses a call before it is journaled as sent, and a gate that pauses before each tool.
//!
//! A rule decides at once and without I/O; a gate may take its time: here it asks on the terminal, and says yes by itself when
//! there is nobody to ask.

use std::io::{BufRead, IsTerminal, stdin};

use hermes_actors::protocol::CallTool;
use hermes_actors::{Agent, Runtime, open_default_journal, tool};
use hermes_bus::{Draft, Gate, Held, Verdict};
use hermes_llm::{ScriptedModel, Step, from_env_or};
use serde_json::json;

/// Sends money to somebody.
///
/// # Arguments
/// - to: who gets it
/// - euros: how much
#[tool]
async fn transfer(to: String, euros: u32) -> String {
    format!("{euros} € sent to {to}")
}

/// Nobody sends more than 100 € at once, whatever the model says.
fn at_most_100(draft: &Draft) -> Verdict {
    match draft.get::<CallTool>() {
        Ok(call) if call.arguments.get("euros").and_then(|euros| euros.as_u64()) > Some(100) => {
            Verdict::Reject("no more than 100 € at once".to_owned())
        }
        _ => Verdict::Pass,
    }
}

/// Shows each call that is about to be delivered, and lets it go or not. The flow is printed from the journal, a moment later:
/// so `held:` may stand above the line of its call.
async fn pause(mut gate: Gate) {
    while let Some(held) = gate.next().await {
        if let Ok(call) = held.envelope().get::<CallTool>() {
            eprintln!("    held: {} {}", call.tool, serde_json::json!(call.arguments));
        }
        // Reading a line blocks, so it has a thread of its own; the runtime goes on meanwhile.
        let _ = tokio::task::spawn_blocking(move || decide(held)).await;
    }
}

fn decide(held: Held) {
    if !stdin().is_terminal() {
        return held.release();
    }
    eprint!("    run it? [y/n] ");
    let answer = stdin().lock().lines().next().and_then(Result::ok).unwrap_or_default();
    if answer.trim() == "y" { held.release() } else { held.reject("the user said no") }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .without_time()
        .with_level(false)
        .with_target(false)
        .init();
    let runtime = Runtime::builder(open_default_journal()?).rule("at_most_100", at_most_100).start();
    let pausing = tokio::spawn(pause(runtime.gate(|envelope| envelope.body.is::<CallTool>())));
    let script = ScriptedModel::new([
        Step::call("transfer", json!({"to": "Ana", "euros": 500})),
        Step::call("transfer", json!({"to": "Ana", "euros": 100})).expect_tool_result("no more than 100 €"),
        Step::text("I could send only 100 €.").expect_tool_result("100 € sent to Ana"),
    ]);
    let agent = Agent::builder("banker")
        .system_prompt("You move money when you are asked to.")
        .model(from_env_or(script)?)
        .tool(transfer)
        .runtime(&runtime)
        .build()?;
    let outcome = agent.run("Send 500 € to Ana.").await?;
    eprintln!("{}", outcome.summary());
    println!("{}", outcome.into_answer()?);
    pausing.abort();
    Ok(())
}

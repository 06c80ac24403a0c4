//! Planner and executor: a planner agent hands typed steps to an executor agent, which is registered as a tool actor.
//!
//! Offline and scripted; against a real endpoint when LLM_BASE_URL, LLM_MODEL and LLM_API_KEY are set.

use hermes_actors::{Agent, tool};
use hermes_llm::{ScriptedModel, from_env_or};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// One step of a plan.
#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "it is read by the executor's model, as JSON")]
struct PlanStep {
    /// The number of the step, from 1.
    number: u32,
    /// What to do, in one sentence.
    instruction: String,
    /// What a good result looks like.
    done_when: String,
}

/// Counts the characters and the words of a text.
///
/// # Arguments
/// - text: the text to count in
#[tool(read_only)]
fn count(text: String) -> String {
    format!("{} characters, {} words", text.chars().count(), text.split_whitespace().count())
}

/// Turns a text around.
///
/// # Arguments
/// - text: the text to turn around
#[tool(read_only)]
fn reverse(text: String) -> String {
    text.chars().rev().collect()
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .without_time()
        .with_level(false)
        .with_target(false)
        .init();
    let executor = Agent::builder("executor")
        .system_prompt(
            "You carry out one step of a plan, given as JSON, with your tools. Answer with its result only.",
        )
        .model(from_env_or(executor_script())?)
        .tool(count)
        .tool(reverse)
        .max_iterations(4)
        .build()?;
    let planner = Agent::builder("planner")
        .system_prompt(
            "You plan. Split the task into steps, give each to the executor, then sum up the results.",
        )
        .model(from_env_or(planner_script())?)
        .tool(executor.as_tool("Carries out one step of your plan and gives its result.").input::<PlanStep>())
        .build()?;
    let outcome = planner.run("Turn “信使 Hermes” around and tell me how long it is.").await?;
    eprintln!("{}", outcome.summary());
    println!("{}", outcome.into_answer()?);
    Ok(())
}

fn planner_script() -> ScriptedModel {
    use hermes_llm::Step;
    let reverse = json!({"number": 1, "instruction": "Turn “信使 Hermes” around.", "done_when": "the text is reversed"});
    let count =
        json!({"number": 2, "instruction": "Count in “信使 Hermes”.", "done_when": "there are two numbers"});
    ScriptedModel::new([
        Step::call("executor", reverse).expect_user("信使 Hermes"),
        Step::call("executor", count).expect_tool_result("semreH 使信"),
        Step::text("Turned around it reads “semreH 使信”; it has 9 characters and 2 words.")
            .expect_tool_result("9 characters"),
    ])
}

fn executor_script() -> ScriptedModel {
    use hermes_llm::Step;
    ScriptedModel::new([
        Step::call("reverse", json!({"text": "信使 Hermes"})).expect_user("\"number\":1"),
        Step::text("semreH 使信").expect_tool_result("semreH 使信"),
        Step::call("count", json!({"text": "信使 Hermes"})).expect_user("\"number\":2"),
        Step::text("9 characters, 2 words").expect_tool_result("9 characters"),
    ])
}

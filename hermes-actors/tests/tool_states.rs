//! What the program gives to tools in whole runs: states of the agent and of the task, and the context of each call.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use hermes_actors::tool::{State, ToolContext};
use hermes_actors::{Agent, Runtime, TaskRequest, tool};
use hermes_bus::laws::OpenEntry;
use hermes_bus::read_all;
use hermes_llm::{ScriptedModel, Step};
use serde_json::{Value, json};

/// Says where.
#[tool(read_only)]
async fn whereabouts(region: State<&'static str>) -> &'static str {
    *region
}

fn asks(told: &str) -> ScriptedModel {
    ScriptedModel::new([Step::call("whereabouts", json!({})), Step::text(told).expect_tool_result(told)])
}

async fn answers(agent: &Agent, request: impl Into<TaskRequest>, region: &str) {
    assert_eq!(agent.run(request).await.unwrap().into_answer().as_deref(), Ok(region));
}

#[tokio::test]
async fn the_state_of_a_task_goes_before_the_agents_and_is_gone_with_the_task() {
    let model = ScriptedModel::new([
        Step::call("whereabouts", json!({})),
        Step::text("eu-north").expect_tool_result("eu-north"),
        Step::call("whereabouts", json!({})),
        Step::text("eu-west").expect_tool_result("eu-west"),
    ]);
    let agent = Agent::builder("assistant").model(model).tool(whereabouts).state("eu-west");
    let agent = agent.runtime(&Runtime::for_tests()).build().unwrap();
    answers(&agent, TaskRequest::new("go").state("eu-north"), "eu-north").await;
    answers(&agent, "go", "eu-west").await;
}

/// What a helper's tool sees, when these are set on the helper, on its caller, and on the task.
async fn sees(
    seen: &str,
    own: Option<&'static str>,
    callers: Option<&'static str>,
    run: Option<&'static str>,
) {
    let mut helper = Agent::builder("helper").model(asks(seen)).tool(whereabouts);
    let model = ScriptedModel::new([Step::call("helper", json!({"task": "where?"})), Step::text("ok")]);
    let mut boss = Agent::builder("boss").model(model).runtime(&Runtime::for_tests());
    let mut request = TaskRequest::new("go");
    if let Some(region) = own {
        helper = helper.state(region);
    }
    if let Some(region) = callers {
        boss = boss.state(region);
    }
    if let Some(region) = run {
        request = request.state(region);
    }
    let boss = boss.tool(helper.build().unwrap().as_tool("helps")).build().unwrap();
    let outcome = boss.run(request).await.unwrap();
    assert_eq!(outcome.gathered[0].shown, format!("OK: {seen}"));
}

#[tokio::test]
async fn tools_of_sub_agents_see_the_state_of_the_task_then_their_agents_then_the_callers() {
    sees("caller", None, Some("caller"), None).await;
    sees("own", Some("own"), Some("caller"), None).await;
    sees("run", Some("own"), Some("caller"), Some("run")).await;
    sees("run", None, None, Some("run")).await;
}

#[tokio::test]
async fn a_state_that_is_nowhere_set_is_named_before_the_task_starts() {
    let runtime = Runtime::for_tests();
    let nobody = || ScriptedModel::new([]);
    let helper =
        Agent::builder("helper").model(nobody()).tool(whereabouts).runtime(&runtime).build().unwrap();
    let boss = Agent::builder("boss").model(nobody()).tool(helper.as_tool("helps")).runtime(&runtime);
    for agent in [helper, boss.build().unwrap()] {
        assert_eq!(
            agent.run("go").await.unwrap_err().to_string(),
            "the tool `whereabouts` needs a `State<&str>`: set one with `.state(…)` on the agent or the task"
        );
    }
    assert_eq!(runtime.journal().last().unwrap(), 0);
}

/// Tells what it knows of its call.
#[tool(timeout = "5s")]
async fn tell(context: &ToolContext) -> Value {
    let left = context.deadline().map(|deadline| (deadline - tokio::time::Instant::now()).as_secs());
    json!({"key": context.idempotency_key(), "user": context.meta()["user"], "left": left})
}

#[tokio::test(start_paused = true)]
async fn a_tool_knows_the_key_the_deadline_and_the_meta_of_its_call() {
    let runtime = Runtime::for_tests();
    let model = ScriptedModel::new([Step::call("tell", json!({})), Step::text("ok")]);
    let agent = Agent::builder("assistant").model(model).tool(tell).runtime(&runtime).build().unwrap();
    agent.run(TaskRequest::new("go").meta("user", "安娜")).await.unwrap();
    let records = read_all(&**runtime.journal()).unwrap();
    let entries: Vec<_> = records.iter().map(|record| OpenEntry::parse(&record.line).unwrap()).collect();
    let named = |name: &str| entries.iter().find(|entry| entry.name == name).unwrap();
    // The call's own id is named, so it is the same when it runs again after a crash.
    let known = json!({"key": named("tool.call").id, "user": "安娜", "left": 5});
    assert_eq!(named("tool.returned").payload["result"], known);
}

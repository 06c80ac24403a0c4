//! The runs of which golden journals are kept: each way in which a task, a turn and a call can go.

use std::path::Path;
use std::time::Duration;

use hermes_actors::protocol::CallTool;
use hermes_actors::tool::{Image, ToolOutput};
use hermes_actors::{Agent, AgentBuilder, Runtime, TaskRequest, tool};
use hermes_bus::journal::{Durability, FileJournal};
use hermes_bus::{Draft, Verdict};
use hermes_llm::{ChatError, ScriptedModel, Step};
use serde_json::json;

/// Their names.
pub const NAMES: [&str; 10] = [
    "answered",
    "parallel",
    "unfit_calls",
    "failed_calls",
    "cancelled",
    "at_the_limit",
    "sub_agents",
    "conversation",
    "refused_by_a_rule",
    "pictures",
];

/// 城市的天气。
///
/// # 参数
/// - city：城市名
#[tool(read_only)]
async fn get_weather(city: String) -> Result<String, String> {
    match city.as_str() {
        "Atlantis" => Err("no station there 🌊".to_owned()),
        _ => Ok(format!("{city}：晴，22°C")),
    }
}

/// Breaks down.
#[tool]
async fn explode() -> String {
    panic!("boom")
}

/// Takes an hour.
#[tool(idempotent, timeout = "1s")]
async fn dig() -> String {
    tokio::time::sleep(Duration::from_secs(3600)).await;
    "gold".to_owned()
}

/// Removes everything.
#[tool(destructive)]
async fn wipe() -> String {
    "gone".to_owned()
}

/// Takes a picture.
#[tool(read_only)]
async fn look() -> ToolOutput {
    ToolOutput::text("one picture").with_image(Image::new("image/png", [0x89, b'P', b'N', b'G']))
}

fn agent(runtime: &Runtime, steps: impl IntoIterator<Item = Step>) -> AgentBuilder {
    let builder = Agent::builder("assistant").system_prompt("你是助手。").model(ScriptedModel::new(steps));
    builder.tool(get_weather).tool(explode).tool(dig).tool(wipe).tool(look).runtime(runtime)
}

fn weather(city: &str) -> (&'static str, serde_json::Value) {
    ("get_weather", json!({ "city": city }))
}

/// Runs `name` on a journal at `path`.
pub fn write(name: &str, path: &Path) {
    let mut tokio = tokio::runtime::Builder::new_current_thread();
    let tokio = tokio.enable_all().start_paused(true).build().unwrap();
    tokio.block_on(async {
        let journal = FileJournal::open(path, Durability::Process).unwrap();
        let mut builder = Runtime::tests_builder(journal);
        if name == "refused_by_a_rule" {
            builder = builder.rule("no-digging", |draft: &Draft| match draft.get::<CallTool>() {
                Ok(call) if call.tool == "dig" => Verdict::Reject("digging is forbidden here".to_owned()),
                _ => Verdict::Pass,
            });
        }
        let runtime = builder.start();
        run(name, &runtime).await;
        runtime.shutdown(Duration::from_secs(5)).await;
    });
}

async fn run(name: &str, runtime: &Runtime) {
    let steps = match name {
        "answered" => vec![Step::calls([weather("北京")]), Step::text("晴 🌞")],
        "parallel" => {
            vec![Step::calls([weather("北京"), weather("Roma"), weather("תל אביב")]), Step::text("all fine")]
        }
        "unfit_calls" => vec![
            Step::calls([("fly", json!({})), ("wipe", json!({})), ("get_weather", json!({"town": 1}))]),
            Step::text(""),
            Step::text("sorry"),
        ],
        "failed_calls" => vec![
            Step::calls([weather("Atlantis"), ("explode", json!({})), ("dig", json!({}))]),
            Step::fail(ChatError::Server { status: 500, message: "out of memory".to_owned() }),
        ],
        "refused_by_a_rule" => {
            vec![Step::calls([("dig", json!({})), weather("北京")]), Step::text("no digging then")]
        }
        "pictures" => vec![Step::calls([("look", json!({}))]), Step::text("a dot")],
        "cancelled" => return cancelled(runtime).await,
        "at_the_limit" => vec![Step::calls([weather("北京")]), Step::text("enough")],
        "sub_agents" => return sub_agents(runtime).await,
        "conversation" => return conversation(runtime).await,
        other => panic!("no run has the name {other}"),
    };
    let turns = if name == "at_the_limit" { 1 } else { 8 };
    let agent = agent(runtime, steps).max_iterations(turns).build().unwrap();
    agent.run(TaskRequest::new("天气？").meta("user", "ana")).await.unwrap();
}

async fn cancelled(runtime: &Runtime) {
    let steps = [Step::calls([weather("北京"), ("dig", json!({})), ("dig", json!({}))])];
    let agent = agent(runtime, steps).tools_at_once(2).build().unwrap();
    let handle = agent.start("Dig.").await.unwrap();
    let canceller = handle.canceller();
    tokio::join!(handle.outcome(), async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        canceller.cancel();
    });
}

async fn sub_agents(runtime: &Runtime) {
    let researcher =
        agent(runtime, [Step::calls([weather("北京")]), Step::text("晴"), Step::text("no idea")]);
    let researcher = researcher.build().unwrap().as_tool("knows the weather");
    let ask = |task: &str| ("assistant", json!({ "task": task }));
    let steps = [Step::calls([ask("北京？"), ask("and Roma?")]), Step::text("好")];
    let chief = Agent::builder("chief").model(ScriptedModel::new(steps)).tool(researcher).runtime(runtime);
    chief.tools_at_once(1).build().unwrap().run("Where is it warm?").await.unwrap();
}

async fn conversation(runtime: &Runtime) {
    let steps = [Step::calls([weather("北京")]), Step::text("晴"), Step::text("不用带伞")];
    let agent = agent(runtime, steps).build().unwrap();
    let first = agent.run("北京？").await.unwrap();
    agent.run(TaskRequest::new("要带伞吗？").after(first.history)).await.unwrap();
}

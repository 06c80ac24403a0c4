//! Faults: what tools, models, disks, rules and people do wrong, and what becomes of it.

mod builds;
mod crossings;
mod disks;
mod doors;
mod many;
mod panics;
mod results;

use hermes_actors::{Agent, AgentBuilder, Runtime, tool};
use hermes_bus::laws::OpenEntry;
use hermes_bus::read_all;
use hermes_llm::{ChatModel, ScriptedModel, Step};

/// 获取指定城市的天气。
///
/// # 参数
/// - city：城市名
#[tool(read_only, timeout = "1s")]
async fn weather(city: String) -> String {
    format!("{city}：晴")
}

/// An agent with one tool.
fn asking(runtime: &Runtime, model: impl ChatModel) -> AgentBuilder {
    Agent::builder("assistant").model(model).tool(weather).runtime(runtime)
}

fn scripted(runtime: &Runtime, steps: impl IntoIterator<Item = Step>) -> AgentBuilder {
    asking(runtime, ScriptedModel::new(steps))
}

/// The payloads of this name in the journal of a runtime.
fn payloads(runtime: &Runtime, name: &str) -> Vec<serde_json::Value> {
    let entries = read_all(&**runtime.journal()).unwrap();
    let entries = entries.iter().map(|record| OpenEntry::parse(&record.line).unwrap());
    entries.filter(|entry| entry.name == name).map(|entry| entry.payload).collect()
}

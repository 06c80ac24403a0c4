//! A question, a tool, an answer: the eight numbered lines of a task.
//!
//! Offline and scripted; against a real endpoint when LLM_BASE_URL, LLM_MODEL and LLM_API_KEY are set.

use hermes_actors::{Agent, tool};
use hermes_llm::{ScriptedModel, Step, from_env_or};
use serde::Serialize;
use serde_json::json;

#[derive(Serialize)]
struct Weather {
    city: String,
    weather: &'static str,
}

/// 获取指定城市的实时天气，用于回答出行建议、穿衣搭配、是否带伞等问题。
///
/// # 参数
/// - city：城市名，中文，如“北京”
#[tool(read_only)]
async fn get_weather(city: String) -> Weather {
    let weather = match city.as_str() {
        "北京" => "晴，22°C，微风",
        "上海" => "多云，25°C，东南风3级",
        _ => "暂无数据",
    };
    Weather { city, weather }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .without_time()
        .with_level(false)
        .with_target(false)
        .init();
    let script = ScriptedModel::new([
        Step::call("get_weather", json!({"city": "北京"})).expect_user("可以出门吗").usage(236, 18),
        Step::text("北京今天晴，22°C，适合出门。").expect_tool_result("晴，22°C").usage(276, 28),
    ]);
    let agent = Agent::builder("weather_assistant")
        .system_prompt("你是一个天气助手，当用户询问天气时调用工具获取信息。")
        .model(from_env_or(script)?)
        .tool(get_weather)
        .build()?;
    let outcome = agent.run("北京今天天气怎么样？可以出门吗？").await?;
    eprintln!("{}", outcome.summary());
    println!("{}", outcome.into_answer()?);
    Ok(())
}

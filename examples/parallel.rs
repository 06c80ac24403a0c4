//! Two cities at once: the calls of one turn run side by side, their results come back in the order of the calls.
//!
//! Offline and scripted; against a real endpoint when LLM_BASE_URL, LLM_MODEL and LLM_API_KEY are set.

use std::time::Duration;

use hermes_actors::{Agent, tool};
use hermes_llm::{ScriptedModel, Step, from_env_or};
use serde_json::json;

/// 获取指定城市的当前气温（摄氏度），用于比较城市、给出行和穿衣建议。
///
/// # 参数
/// - city：城市名，中文，如“北京”
#[tool(read_only, timeout = "5s")]
async fn get_temperature(city: String) -> Result<i32, String> {
    // 上海's station is quicker: its result comes first and still stands second in the context.
    let (degrees, wait) = match city.as_str() {
        "北京" => (22, 120),
        "上海" => (25, 60),
        _ => return Err(format!("没有 {city} 的气象站")),
    };
    tokio::time::sleep(Duration::from_millis(wait)).await;
    Ok(degrees)
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .without_time()
        .with_level(false)
        .with_target(false)
        .init();
    let both = [("get_temperature", json!({"city": "北京"})), ("get_temperature", json!({"city": "上海"}))];
    let script = ScriptedModel::new([
        Step::calls(both).expect_user("哪个更暖和"),
        Step::text("上海 25°C，比北京的 22°C 暖和 3°C。"),
    ]);
    let agent = Agent::builder("weather_assistant")
        .system_prompt("你是一个天气助手。可以在一轮里同时调用多个工具。")
        .model(from_env_or(script)?)
        .tool(get_temperature)
        .build()?;
    let outcome = agent.run("北京和上海，哪个更暖和？").await?;
    eprintln!("{}", outcome.summary());
    println!("{}", outcome.into_answer()?);
    Ok(())
}

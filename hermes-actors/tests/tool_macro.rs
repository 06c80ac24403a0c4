//! The attribute `#[tool]`: each test shows a function and what the model sees of it. Its arguments have a file of their own.

use expect_test::{Expect, expect};
use hermes_actors::tool;
use hermes_actors::tool::{Effect, Tool, ToolContext, ToolError, ToolOutput, shown};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

async fn call(tool: impl Tool, arguments: Value) -> Result<ToolOutput, ToolError> {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    tool.call(arguments, ToolContext::new("t1.0")).await
}

async fn shown_of(tool: impl Tool, arguments: Value) -> String {
    shown(&call(tool, arguments).await)
}

fn check_parameters(tool: impl Tool, expected: Expect) {
    let declaration = tool.declaration();
    assert_eq!(declaration.check(), Ok(()));
    expected.assert_eq(&format!("{:#}", declaration.parameters));
}

/// 查询一个城市的天气。
///
/// 只知道中国的城市。
///
/// # 参数
/// - city：城市名，例如 `北京`
/// - `天数`：从今天起的天数，
///   最多七天
#[tool(name = "weather", read_only, open_world, timeout = "500ms")]
async fn 查天气(city: String, 天数: Option<u8>) -> Result<String, String> {
    match city.as_str() {
        "北京" => Ok(format!("晴 🌞，{} 天", 天数.unwrap_or(1))),
        _ => Err(format!("没有这个城市：{city}")),
    }
}

#[tokio::test]
async fn a_tool_may_be_chinese_from_its_docs_to_its_answer() {
    let declaration = 查天气().declaration();
    assert_eq!(declaration.name, "weather");
    assert_eq!(declaration.description, "查询一个城市的天气。\n\n只知道中国的城市。");
    assert_eq!(declaration.effect, Effect::ReadOnly);
    assert!(declaration.open_world);
    assert_eq!(declaration.timeout, Some(Duration::from_millis(500)));
    check_parameters(
        查天气(),
        expect![[r#"
            {
              "properties": {
                "city": {
                  "description": "城市名，例如 `北京`",
                  "type": "string"
                },
                "天数": {
                  "description": "从今天起的天数，最多七天",
                  "maximum": 255,
                  "minimum": 0,
                  "type": "integer"
                }
              },
              "required": [
                "city"
              ],
              "type": "object"
            }"#]],
    );
    assert_eq!(shown_of(查天气(), json!({"city": "北京", "天数": 3})).await, "OK: 晴 🌞，3 天");
    assert_eq!(shown_of(查天气(), json!({"city": "北京", "天数": null})).await, "OK: 晴 🌞，1 天");
    assert_eq!(shown_of(查天气(), json!({"city": "罗马"})).await, "ERROR: 没有这个城市：罗马");
}

/// Adds two numbers.
#[tool]
fn add(
    /// the first
    a: i64,
    /// the second
    #[allow(unused_mut)]
    mut b: f64,
) -> f64 {
    b += a as f64;
    b
}

#[tokio::test]
async fn a_tool_that_declares_nothing_may_change_the_world() {
    let declaration = add().declaration();
    assert_eq!((declaration.name.as_str(), declaration.description.as_str()), ("add", "Adds two numbers."));
    assert_eq!(
        (declaration.effect, declaration.open_world, declaration.timeout),
        (Effect::MayChange, false, None)
    );
    assert_eq!(shown_of(add(), json!({"a": 1, "b": 2.5})).await, "OK: 3.5");
    assert_eq!(add::direct(1, 2.5), 3.5);
}

#[test]
fn parameters_may_have_doc_comments_of_their_own() {
    check_parameters(
        add(),
        expect![[r#"
            {
              "properties": {
                "a": {
                  "description": "the first",
                  "type": "integer"
                },
                "b": {
                  "description": "the second",
                  "type": "number"
                }
              },
              "required": [
                "a",
                "b"
              ],
              "type": "object"
            }"#]],
    );
}

/// Rings the bell.
#[tool(idempotent)]
fn ring() {}

#[tokio::test]
async fn a_tool_may_take_nothing_and_return_nothing() {
    check_parameters(
        ring(),
        expect![[r#"
            {
              "properties": {},
              "type": "object"
            }"#]],
    );
    assert_eq!(
        shown_of(ring(), json!({})).await,
        "OK: null (The tool ran and has nothing to return. That is a normal result.)"
    );
    // Small models fill the empty object with something or other.
    assert!(call(ring(), json!({"input": ""})).await.is_ok());
}

#[derive(Debug, thiserror::Error)]
#[error("the station did not answer")]
struct NoAnswer(#[source] std::io::Error);

type Answer<T> = Result<T, NoAnswer>;

/// Asks a station.
#[tool]
async fn ask_station() -> Answer<String> {
    Err(NoAnswer(std::io::Error::other("connection refused")))
}

/// Fails with an error of its own.
#[tool]
async fn fail() -> Result<(), ToolError> {
    Err(ToolError::new("use the other tool").caused_by(std::io::Error::other("secret")))
}

#[tokio::test]
async fn an_error_keeps_its_causes_and_a_result_may_have_another_name() {
    assert_eq!(
        shown_of(ask_station(), json!({})).await,
        "ERROR: the station did not answer: connection refused"
    );
    let error = call(fail(), json!({})).await.unwrap_err();
    assert_eq!(error.message(), "use the other tool");
    assert!(error.source().is_some());
}

/// Sleeps as a blocking function does.
#[tool]
fn which_thread() -> Option<String> {
    std::thread::current().name().map(str::to_owned)
}

#[tokio::test]
async fn a_blocking_function_runs_off_the_event_loop() {
    let here = std::thread::current().name().map(str::to_owned);
    let there = call(which_thread(), json!({})).await.expect("it returns").result;
    assert_ne!(there, json!(here));
}

/// Panics.
#[tool]
fn panic_blocking() -> String {
    panic!("the disk is on fire")
}

/// Panics too.
#[tool]
async fn panic_async() -> String {
    panic!("the disk is on fire")
}

#[tokio::test]
async fn a_panic_of_the_function_is_a_panic_of_the_call() {
    for tool in [Arc::new(panic_blocking()) as Arc<dyn Tool>, Arc::new(panic_async())] {
        let panic = tokio::spawn(call(tool, json!({}))).await.unwrap_err().into_panic();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"the disk is on fire"));
    }
}

#[test]
fn tools_of_several_kinds_stand_in_one_list() {
    let tools: Vec<Box<dyn Tool>> =
        vec![Box::new(add()), Box::new(Arc::new(ring())), Box::new(which_thread())];
    let order: Vec<String> = tools.iter().map(|tool| tool.declaration().name).collect();
    assert_eq!(order, ["add", "ring", "which_thread"]);
}

mod a_strange_neighbourhood {
    //! A module whose own names are those that generated code might use.
    #![allow(dead_code, non_camel_case_types)]

    use hermes_actors::tool;

    type Result = ();
    type Option = ();
    type String = ();
    struct Arguments;
    struct Declaration;
    trait Tool {}

    /// Its name is one that a binding might have.
    #[tool(undocumented)]
    pub fn value(number: u8) -> u8 {
        number
    }

    /// So is this one.
    #[tool]
    pub async fn arguments() {}
}

#[tokio::test]
async fn the_names_around_a_tool_do_not_matter() {
    assert_eq!(shown_of(a_strange_neighbourhood::value(), json!({"number": 7})).await, "OK: 7");
    assert!(call(a_strange_neighbourhood::arguments(), json!({})).await.is_ok());
}

//! What tools return: too much, too deep, in any script, with characters that nobody prints.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hermes_actors::tool::{Declaration, Tool, ToolContext, ToolError, ToolOutput, shown};
use hermes_actors::{Agent, Outcome, Runtime};
use hermes_bus::journal::{BLOB_THRESHOLD, BlobHash};
use hermes_llm::{ScriptedModel, Step};
use serde_json::{Map, Value, json};

use super::payloads;

/// Returns what it was made with.
struct Returns(Arc<dyn Fn() -> Value + Send + Sync>);

#[async_trait::async_trait]
impl Tool for Returns {
    fn declaration(&self) -> Declaration {
        Declaration::new("fetch", "Returns something.", json!({"type": "object"}))
    }
    async fn call(&self, _: Map<String, Value>, _: ToolContext) -> Result<ToolOutput, ToolError> {
        ToolOutput::json(&(self.0)())
    }
}

/// Runs a task whose tool returns `result`, and gives also what the model was told.
async fn fetched(runtime: &Runtime, result: impl Fn() -> Value + Send + Sync + 'static) -> (Outcome, String) {
    let model = ScriptedModel::new([Step::call("fetch", json!({})), Step::text("done")]);
    let agent =
        Agent::builder("reader").model(model.clone()).tool(Returns(Arc::new(result))).runtime(runtime);
    let outcome = agent.build().unwrap().run("read").await.unwrap();
    let told = model.sent()[1].messages.decode().unwrap().pop().unwrap();
    (outcome, told.text().unwrap().into_owned())
}

#[tokio::test]
async fn fifty_megabytes_go_to_a_blob_and_the_model_is_shown_both_ends() {
    let runtime = Runtime::for_tests();
    let text = || "天气晴朗 🌞\n".repeat(50_000_000 / 18);
    let begun = Instant::now();
    let (outcome, told) = fetched(&runtime, move || Value::String(text())).await;
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    assert_eq!(outcome.end.as_str(), "completed");

    assert!(
        told.starts_with("OK: [Shortened: 19444439 characters in all;") && told.ends_with("天气晴朗 🌞\n"),
        "{told}"
    );
    assert_eq!(told.chars().count(), 2_000);
    let returned = payloads(&runtime, "tool.returned").remove(0);
    let hash: BlobHash = returned["result"]["$blob"].as_str().unwrap().parse().unwrap();
    assert_eq!(returned["result"]["bytes"], 49_999_986);
    assert_eq!(runtime.journal().blob(&hash).unwrap().len(), 49_999_986);
    let lines: usize =
        hermes_bus::read_all(&**runtime.journal()).unwrap().iter().map(|record| record.line.len()).sum();
    assert!(lines < BLOB_THRESHOLD, "{lines}");
}

#[tokio::test]
async fn every_script_and_every_control_character_reaches_the_model_as_it_is() {
    let texts = [
        "晴，22°C\u{3000}微风",
        "👩‍👩‍👧‍👦🏳️‍🌈 e\u{301}",
        "\u{202e}שלום العالم\u{202c}",
        "a\u{0}b\u{7}c\u{1b}[31m\r\n\t\u{7f}\u{85}",
        "\u{feff}\u{2028}\u{2029}\u{fffd}\u{10ffff}",
        r#"\u0000 \" {"$blob":"x"} \\"#,
    ];
    for text in texts {
        let runtime = Runtime::for_tests();
        let (_, told) = fetched(&runtime, move || json!(text)).await;
        assert_eq!(told, format!("OK: {text}"));
        assert_eq!(payloads(&runtime, "tool.returned")[0]["result"], text);
    }
}

#[tokio::test]
async fn a_result_nested_deeper_than_json_readers_go_is_kept_as_its_text() {
    let nested = |levels| (0..levels).fold(json!("晴"), |inner, _| json!([inner]));
    for levels in [100, 101, 126, 127, 128, 200] {
        // That it can be read back is checked when the runtime is dropped.
        let runtime = Runtime::for_tests();
        let (_, told) = fetched(&runtime, move || nested(levels)).await;
        assert_eq!(told, shown(&ToolOutput::json(&nested(levels))));
        let result = &payloads(&runtime, "tool.returned")[0]["result"];
        assert_eq!(result.is_string(), levels > 100);
    }
}

//! Rules and gates around a whole agent.

use std::sync::Arc;
use std::time::Duration;

use expect_test::{Expect, expect};
use hermes_actors::Runtime;
use hermes_actors::protocol::CallTool;
use hermes_bus::journal::MemoryJournal;
use hermes_bus::{Body, Draft, Held, Verdict};
use hermes_llm::{ScriptedModel, Step};
use serde_json::json;

use super::{asking, payloads};
use crate::script::journal;

/// A model that asks for the weather in 北京 and expects to be told `result`.
fn asks_and_is_told(result: &str) -> ScriptedModel {
    ScriptedModel::new([
        Step::call("weather", json!({"city": "北京"})),
        Step::text("ok").expect_tool_result(result),
    ])
}

async fn ruled(rule: fn(&Draft, CallTool) -> Verdict, told: &str, journal_is: Expect) {
    let rule = move |draft: &Draft| match draft.body().get::<CallTool>() {
        Ok(call) => rule(draft, call.clone()),
        Err(_) => Verdict::Pass,
    };
    let runtime = Runtime::tests_builder(Arc::new(MemoryJournal::new())).rule("policy", rule).start();
    let model = asks_and_is_told(told);
    asking(&runtime, model.clone()).build().unwrap().run("天气？").await.unwrap();
    model.assert_finished();
    journal_is.assert_eq(&journal(&runtime));
}

#[tokio::test(start_paused = true)]
async fn a_rule_gives_a_call_other_arguments() {
    let elsewhere = |_: &Draft, call: CallTool| {
        let arguments = json!({"city": "上海"}).as_object().cloned().unwrap();
        Verdict::Replace(Body::new(CallTool { arguments, ..call }))
    };
    ruled(elsewhere, "OK: 上海：晴", expect![[r##"
        1 task.start user -> orchestrator () {"task":"天气？"}
        2 llm.chat orchestrator -> llm (1) {"append":[{"of":"#1"}],"turn":1}
        3 llm.replied llm -> orchestrator (2) ends 2 {"finish":"tool_calls","message":{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{\"city\":\"北京\"}","name":"weather"},"id":"t1.0","type":"function"}]},"provider_ids":{"t1.0":"call_1_0"}}
        4 tool.call orchestrator -> tool.weather (3) {"arguments":{"city":"上海"},"call_id":"t1.0","effect":"read_only","tool":"weather"}
        5 tool.started tool.weather -> tool.weather (4) {"call_id":"t1.0"}
        6 tool.returned tool.weather -> orchestrator (5) ends 4 begun {"call_id":"t1.0","result":"上海：晴","shown":"OK: 上海：晴"}
        7 llm.chat orchestrator -> llm (6) {"append":[{"of":"#3"},{"of":"#6"}],"turn":2}
        8 llm.replied llm -> orchestrator (7) ends 7 {"finish":"stop","message":{"content":"ok","role":"assistant"}}
        9 task.finished orchestrator -> final (8) ends 1 {"answer":"ok","gathered":[{"call_id":"t1.0","of":"#6","tool":"weather"}],"outcome":"completed"}
    "##]]).await;
}

#[tokio::test(start_paused = true)]
async fn a_rule_rejects_a_call_and_the_model_is_told() {
    let never = |_: &Draft, call: CallTool| Verdict::Reject(format!("{} is not allowed", call.tool));
    ruled(never, "ERROR: the call was not allowed: weather is not allowed", expect![[r##"
        1 task.start user -> orchestrator () {"task":"天气？"}
        2 llm.chat orchestrator -> llm (1) {"append":[{"of":"#1"}],"turn":1}
        3 llm.replied llm -> orchestrator (2) ends 2 {"finish":"tool_calls","message":{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{\"city\":\"北京\"}","name":"weather"},"id":"t1.0","type":"function"}]},"provider_ids":{"t1.0":"call_1_0"}}
        4 tool.call orchestrator -> tool.weather (3) {"arguments":{"city":"北京"},"call_id":"t1.0","effect":"read_only","tool":"weather"}
        5 envelope.failed tool.weather -> orchestrator (4) ends 4 {"kind":"rejected","message":"weather is not allowed"}
        6 llm.chat orchestrator -> llm (5) {"append":[{"of":"#3"},{"content":"ERROR: the call was not allowed: weather is not allowed","role":"tool","tool_call_id":"t1.0"}],"turn":2}
        7 llm.replied llm -> orchestrator (6) ends 6 {"finish":"stop","message":{"content":"ok","role":"assistant"}}
        8 task.finished orchestrator -> final (7) ends 1 {"answer":"ok","outcome":"completed"}
    "##]]).await;
}

/// Runs a task whose calls wait an hour at a gate before `decide` is asked about each.
async fn gated(decide: fn(Held), told: &str) -> Runtime {
    let runtime = Runtime::for_tests();
    let mut gate = runtime.gate(|envelope| envelope.body.is::<CallTool>());
    tokio::spawn(async move {
        while let Some(held) = gate.next().await {
            tokio::time::sleep(Duration::from_secs(3600)).await;
            decide(held);
        }
    });
    let model = asks_and_is_told(told);
    asking(&runtime, model.clone()).build().unwrap().run("天气？").await.unwrap();
    model.assert_finished();
    runtime
}

#[tokio::test(start_paused = true)]
async fn while_a_gate_holds_a_call_its_timer_stands_still() {
    let runtime = gated(Held::release, "OK: 北京：晴").await;
    assert_eq!(payloads(&runtime, "timer.fired").len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_gate_rejects_a_call_and_the_model_is_told() {
    let runtime =
        gated(|held| held.reject("not on a Sunday"), "ERROR: the call was not allowed: not on a Sunday")
            .await;
    assert_eq!(payloads(&runtime, "tool.started").len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_cancel_ends_a_call_that_a_gate_holds() {
    let runtime = Runtime::for_tests();
    let mut gate = runtime.gate(|envelope| envelope.body.is::<CallTool>());
    let handle = asking(&runtime, asks_and_is_told("")).build().unwrap().start("天气？").await.unwrap();
    let held = gate.next().await.unwrap();
    handle.cancel();
    assert_eq!(handle.outcome().await.end.as_str(), "cancelled");
    held.release();
    runtime.shutdown(Duration::from_secs(1)).await;
    assert_eq!(payloads(&runtime, "tool.started").len(), 0);
}

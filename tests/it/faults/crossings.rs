//! What crosses a run from outside: a cancel at the last moment, a future that is dropped, a reader that sleeps, a
//! body that does not stop.

use std::future::Future;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};
use std::time::Duration;

use expect_test::expect;
use hermes_actors::protocol::LlmReplied;
use hermes_actors::tool::{Declaration, Tool, ToolContext, ToolError, ToolOutput, off_the_event_loop};
use hermes_actors::{End, Runtime};
use hermes_bus::read_all;
use hermes_llm::{ScriptedModel, Step};
use serde_json::{Map, Value, json};

use super::{asking, payloads, scripted};
use crate::script::journal;

const GRACE: Duration = Duration::from_secs(60);

#[tokio::test(start_paused = true)]
async fn a_cancel_that_crosses_the_answer_is_answered_once_whoever_comes_first() {
    let mut ends = Vec::new();
    for pauses in 0..12 {
        let runtime = Runtime::for_tests();
        let steps = [Step::text("晴").after(Duration::from_millis(10))];
        let handle = scripted(&runtime, steps).build().unwrap().start("天气？").await.unwrap();
        tokio::time::sleep(Duration::from_millis(10)).await;
        for _ in 0..pauses {
            tokio::task::yield_now().await;
        }
        handle.cancel();
        ends.push(handle.outcome().await.end);
        runtime.shutdown(GRACE).await;
        let answered =
            payloads(&runtime, "task.cancelling").len() + payloads(&runtime, "envelope.failed").len();
        assert_eq!(answered, 1, "after {pauses} pauses:\n{}", journal(&runtime));
    }
    assert!(ends.contains(&End::Completed) && ends.contains(&End::Cancelled), "{ends:?}");
}

#[tokio::test(start_paused = true)]
async fn a_cancel_that_comes_together_with_the_answer_and_behind_it_is_not_taken() {
    let runtime = Runtime::for_tests();
    let mut gate = runtime.gate(|envelope| envelope.body.is::<LlmReplied>());
    let handle = scripted(&runtime, [Step::text("晴")]).build().unwrap().start("天气？").await.unwrap();
    let answer = gate.next().await.unwrap();
    handle.cancel();
    runtime.bus().commit(hermes_bus::Step::new()).await.unwrap();
    answer.release();
    assert_eq!(handle.outcome().await.end, End::Completed);
    expect![[r##"
        1 task.start user -> orchestrator () {"task":"天气？"}
        2 llm.chat orchestrator -> llm (1) {"append":[{"of":"#1"}],"turn":1}
        3 llm.replied llm -> orchestrator (2) ends 2 {"finish":"stop","message":{"content":"晴","role":"assistant"}}
        4 task.cancel user -> orchestrator (1) {}
        5 envelope.failed orchestrator -> user (4) ends 4 {"kind":"undelivered","message":"its receiver has finished"}
        6 task.finished orchestrator -> final (3) ends 1 {"answer":"晴","outcome":"completed"}
    "##]].assert_eq(&journal(&runtime));
}

#[tokio::test(start_paused = true)]
async fn a_start_that_is_dropped_after_it_has_sent_its_task_cancels_it() {
    let runtime = Runtime::for_tests();
    let agent = scripted(&runtime, [Step::hang()]).build().unwrap();
    agent.runtime().await.unwrap();
    let mut start = Box::pin(agent.start("天气？"));
    assert!(start.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    drop(start);
    runtime.shutdown(GRACE).await;
    expect![[r##"
        1 task.start user -> orchestrator () {"task":"天气？"}
        2 task.cancel user -> orchestrator (1) {}
        3 llm.chat orchestrator -> llm (1) {"append":[{"of":"#1"}],"turn":1}
        4 task.cancelling orchestrator -> user (2) ends 2 {}
        5 llm.failed orchestrator -> orchestrator (2) ends 3 {"kind":"cancelled","message":"the task was cancelled"}
        6 task.finished orchestrator -> final (5) ends 1 {"outcome":"cancelled"}
    "##]].assert_eq(&journal(&runtime));
}

#[tokio::test(start_paused = true)]
async fn a_handle_that_is_dropped_cancels_and_one_that_is_detached_runs_on() {
    let slow = || [Step::text("晴").after(Duration::from_secs(1))];
    let runtime = Runtime::for_tests();
    let dropped = scripted(&runtime, slow()).build().unwrap().start("dropped").await.unwrap();
    // The agent itself is gone by then.
    let detached = scripted(&runtime, slow()).build().unwrap().start("detached").await.unwrap();
    let traces = [dropped.trace_id(), detached.trace_id()].map(|trace| trace.to_string());
    drop(dropped);
    detached.detach();
    runtime.shutdown(GRACE).await;
    let outcome_of = |trace: &String| {
        let records = read_all(&**runtime.journal()).unwrap();
        let lines = records.iter().map(|record| serde_json::from_slice::<Value>(&record.line).unwrap());
        let end =
            lines.into_iter().find(|line| line["trace_id"] == **trace && line["name"] == "task.finished");
        end.unwrap()["payload"]["outcome"].as_str().unwrap().to_owned()
    };
    assert_eq!(traces.each_ref().map(outcome_of), ["cancelled", "completed"]);
}

#[tokio::test(start_paused = true)]
async fn a_reader_of_envelopes_that_sleeps_through_the_run_hurts_nobody_and_misses_nothing() {
    let runtime = Runtime::for_tests();
    let calls = || Step::calls((0..250).map(|_| ("weather", json!({"city": "北京"}))));
    let steps = (0..6).map(|_| calls()).chain([Step::text("晴")]);
    let agent = scripted(&runtime, steps).tools_at_once(50).build().unwrap();
    let handle = agent.start("天气？").await.unwrap();
    let mut reader = handle.envelopes();
    assert_eq!(reader.next().await.unwrap().unwrap().seq, 1);
    assert_eq!(handle.outcome().await.end, End::Completed);

    let mut seen = 1;
    while let Some(envelope) = reader.next().await.unwrap() {
        seen += 1;
        assert_eq!(envelope.seq, seen);
    }
    assert_eq!(seen, 1 + 7 * 2 + 6 * 250 * 3 + 1);
}

/// Blocks its thread until somebody lets go.
struct Stubborn {
    begun: mpsc::Sender<()>,
    go: Arc<Mutex<mpsc::Receiver<()>>>,
}

#[async_trait::async_trait]
impl Tool for Stubborn {
    fn declaration(&self) -> Declaration {
        Declaration::new("block", "Blocks.", json!({"type": "object"}))
    }
    async fn call(&self, _: Map<String, Value>, _: ToolContext) -> Result<ToolOutput, ToolError> {
        let (begun, go) = (self.begun.clone(), self.go.clone());
        off_the_event_loop(move || {
            let _ = begun.send(());
            let _ = go.lock().unwrap().recv();
        })
        .await?;
        Ok(ToolOutput::text("too late"))
    }
}

#[tokio::test]
async fn a_body_that_ends_after_its_task_is_heard_by_nobody() {
    let runtime = Runtime::for_tests();
    let ((begun, has_begun), (release, go)) = (mpsc::channel(), mpsc::channel());
    let stubborn = Stubborn { begun, go: Arc::new(Mutex::new(go)) };
    let agent = asking(&runtime, ScriptedModel::new([Step::call("block", json!({}))])).tool(stubborn);
    let handle = agent.build().unwrap().start("go").await.unwrap();
    tokio::task::spawn_blocking(move || has_begun.recv().unwrap()).await.unwrap();
    handle.cancel();
    assert_eq!(handle.outcome().await.end, End::Cancelled);
    release.send(()).unwrap();
    runtime.shutdown(GRACE).await;
    expect![[r##"
        1 task.start user -> orchestrator () {"task":"go"}
        2 llm.chat orchestrator -> llm (1) {"append":[{"of":"#1"}],"turn":1}
        3 llm.replied llm -> orchestrator (2) ends 2 {"finish":"tool_calls","message":{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{}","name":"block"},"id":"t1.0","type":"function"}]},"provider_ids":{"t1.0":"call_1_0"}}
        4 tool.call orchestrator -> tool.block (3) {"arguments":{},"call_id":"t1.0","effect":"may_change","tool":"block"}
        5 tool.started tool.block -> tool.block (4) {"call_id":"t1.0"}
        6 task.cancel user -> orchestrator (1) {}
        7 task.cancelling orchestrator -> user (6) ends 6 {}
        8 tool.failed orchestrator -> orchestrator (6) ends 4 begun {"call_id":"t1.0","error":{"kind":"cancelled","message":"the task was cancelled"},"shown":"ERROR: the task was cancelled"}
        9 task.finished orchestrator -> final (8) ends 1 {"outcome":"cancelled"}
    "##]].assert_eq(&journal(&runtime));
}

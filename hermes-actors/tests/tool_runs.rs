//! Tools in whole runs: attempts, places, cancels, progress and images, as the journal tells them.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "../../tests/it/script.rs"]
mod script;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use expect_test::{Expect, expect};
use hermes_actors::protocol::ToolProgress;
use hermes_actors::tool::{Image, State, ToolContext, ToolError, ToolOutput};
use hermes_actors::{Agent, AgentBuilder, Outcome, Runtime, tool};
use hermes_bus::journal::MemoryJournal;
use hermes_bus::{Draft, Verdict};
use hermes_llm::{ScriptedModel, Step};
use serde_json::json;

/// What tools told of their progress.
type Told = Arc<Mutex<Vec<ToolProgress>>>;

/// A runtime for tests, and what is told on its bus.
fn watched() -> (Runtime, Told) {
    let told = Told::default();
    let hears = told.clone();
    let spy = move |draft: &Draft| {
        hears.lock().unwrap().extend(draft.get::<ToolProgress>().map(|progress| (*progress).clone()));
        Verdict::Pass
    };
    let runtime = Runtime::tests_builder(Arc::new(MemoryJournal::default())).rule("spy", spy).start();
    (runtime, told)
}

fn agent(runtime: &Runtime, steps: impl IntoIterator<Item = Step>) -> AgentBuilder {
    Agent::builder("assistant").model(ScriptedModel::new(steps)).runtime(runtime)
}

async fn run(builder: AgentBuilder) -> Outcome {
    builder.build().unwrap().run("go").await.unwrap()
}

/// The lines of the journal that are about tools.
fn check_calls(runtime: &Runtime, expected: Expect) {
    let journal = script::journal(runtime);
    let calls: Vec<&str> = journal
        .lines()
        .filter(|line| line.split(' ').nth(1).is_some_and(|name| name.starts_with("tool.")))
        .collect();
    expected.assert_eq(&calls.join("\n"));
}

/// The keys under which a tool was tried.
#[derive(Default)]
struct Tried(Mutex<Vec<String>>);

/// Fails twice.
#[tool(read_only, retries = 2)]
async fn flaky(tried: State<Arc<Tried>>, context: ToolContext) -> Result<String, String> {
    let mut tried = tried.0.lock().unwrap();
    tried.push(context.idempotency_key().to_owned());
    if tried.len() < 3 { Err(format!("no answer {}", tried.len())) } else { Ok("第三次".to_owned()) }
}

#[tokio::test(start_paused = true)]
async fn attempts_are_one_call_under_one_key_and_are_told_as_progress() {
    let (runtime, told) = watched();
    // Progress is told while somebody observes.
    let _watching = runtime.observe();
    let tried = Arc::new(Tried::default());
    let steps = [Step::call("flaky", json!({})), Step::text("ok").expect_tool_result("OK: 第三次")];
    run(agent(&runtime, steps).tool(flaky).state(tried.clone())).await;
    let keys = tried.0.lock().unwrap();
    assert!(keys.len() == 3 && keys.iter().all(|key| *key == keys[0]), "{keys:?}");
    check_calls(
        &runtime,
        expect![[r#"
        4 tool.call orchestrator -> tool.flaky (3) {"arguments":{},"call_id":"t1.0","effect":"read_only","tool":"flaky"}
        5 tool.started tool.flaky -> tool.flaky (4) {"call_id":"t1.0"}
        6 tool.returned tool.flaky -> orchestrator (5) ends 4 begun {"call_id":"t1.0","result":"第三次","shown":"OK: 第三次"}"#]],
    );
    let told: Vec<String> = told.lock().unwrap().iter().map(|told| told.text.clone()).collect();
    expect![[r#"
        attempt 2 of 3 in 250 ms: no answer 1
        attempt 3 of 3 in 500 ms: no answer 2"#]]
    .assert_eq(&told.join("\n"));
}

/// How often it ran.
#[derive(Default)]
struct Runs(AtomicUsize);

/// Fails for good.
#[tool(idempotent, retries = 5)]
async fn hopeless(runs: State<Arc<Runs>>) -> Result<(), ToolError> {
    runs.0.fetch_add(1, Ordering::Relaxed);
    Err(ToolError::new("there is no such city").permanent())
}

/// Breaks down.
#[tool(idempotent, retries = 5)]
async fn explode(runs: State<Arc<Runs>>) -> Result<(), String> {
    runs.0.fetch_add(1, Ordering::Relaxed);
    panic!("boom")
}

/// Wants a number.
#[tool(idempotent, retries = 5, undocumented)]
async fn wants_a_number(number: u8, runs: State<Arc<Runs>>) -> u8 {
    runs.0.fetch_add(1, Ordering::Relaxed);
    number
}

#[tokio::test(start_paused = true)]
async fn what_another_attempt_cannot_mend_is_not_tried_again() {
    let (runtime, told) = watched();
    let runs = Arc::new(Runs::default());
    let calls =
        [("hopeless", json!({})), ("explode", json!({})), ("wants_a_number", json!({"number": "one"}))];
    let builder = agent(&runtime, [Step::calls(calls), Step::text("ok")]);
    let outcome = run(builder.tool(hopeless).tool(explode).tool(wants_a_number).state(runs.clone())).await;
    assert_eq!((outcome.stats.tool_calls, runs.0.load(Ordering::Relaxed)), (3, 2));
    assert_eq!(*told.lock().unwrap(), []);
}

/// How many run, and how many ran at most.
#[derive(Default)]
struct Peak {
    now: AtomicUsize,
    most: AtomicUsize,
}

/// Digs for a second.
#[tool(max_concurrent = 2, timeout = "2500ms")]
async fn dig(peak: State<Arc<Peak>>) -> String {
    let now = peak.now.fetch_add(1, Ordering::SeqCst) + 1;
    peak.most.fetch_max(now, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_secs(1)).await;
    peak.now.fetch_sub(1, Ordering::SeqCst);
    "dug".to_owned()
}

#[tokio::test(start_paused = true)]
async fn places_count_in_the_whole_process_and_waiting_counts_towards_the_timeout() {
    let (one, other) = (Runtime::for_tests(), Runtime::for_tests());
    let peak = Arc::new(Peak::default());
    let digging = |runtime: &Runtime| {
        let steps = [Step::calls(vec![("dig", json!({})); 3]), Step::text("ok")];
        run(agent(runtime, steps).tool(dig).state(peak.clone()))
    };
    let start = tokio::time::Instant::now();
    let (first, second) = tokio::join!(digging(&one), digging(&other));
    assert_eq!(peak.most.load(Ordering::SeqCst), 2);
    // Four in two seconds; the last two have their turn in the third and are not done in time.
    assert_eq!(start.elapsed().as_millis(), 2500);
    let failed = |outcome: &Outcome| outcome.stats.tool_failures;
    assert_eq!(failed(&first) + failed(&second), 2);
}

/// Says when it has stopped.
type Stopped = Mutex<Option<tokio::sync::oneshot::Sender<&'static str>>>;

/// Grinds until nobody waits any more.
#[tool(timeout = "20ms")]
fn grind(context: &ToolContext, stopped: State<Stopped>) -> String {
    while !context.is_cancelled() {
        std::thread::yield_now();
    }
    let stopped = stopped.lock().unwrap().take();
    stopped.map(|stopped| stopped.send("stopped"));
    context.progress("nobody hears this: the call has ended");
    "unheard".to_owned()
}

#[tokio::test]
async fn a_timeout_reaches_a_tool_that_blocks() {
    let (runtime, told) = watched();
    let (stopped, waits) = tokio::sync::oneshot::channel();
    let steps = [Step::call("grind", json!({})), Step::text("ok")];
    run(agent(&runtime, steps).tool(grind).state(Stopped::new(Some(stopped)))).await;
    assert_eq!(waits.await, Ok("stopped"));
    check_calls(
        &runtime,
        expect![[r#"
        4 tool.call orchestrator -> tool.grind (3) {"arguments":{},"call_id":"t1.0","effect":"may_change","tool":"grind"}
        5 tool.started tool.grind -> tool.grind (4) {"call_id":"t1.0"}
        7 tool.failed orchestrator -> orchestrator (6) ends 4 begun {"call_id":"t1.0","error":{"kind":"timeout","message":"the tool did not answer within 0.02 s: whether it has done its work is not known"},"shown":"ERROR: the tool did not answer within 0.02 s: whether it has done its work is not known"}"#]],
    );
    assert_eq!(*told.lock().unwrap(), []);
}

/// Blocks until it is let go, whoever has stopped to wait.
#[tool(max_concurrent = 1, timeout = "20ms")]
fn hold(gate: State<Mutex<std::sync::mpsc::Receiver<()>>>) {
    let _ = gate.lock().unwrap().recv();
}

#[tokio::test]
async fn a_body_that_nobody_waits_for_any_more_keeps_its_place() {
    let runtime = Runtime::for_tests();
    let (let_go, gate) = std::sync::mpsc::channel();
    let steps = [Step::call("hold", json!({})), Step::call("hold", json!({})), Step::text("ok")];
    run(agent(&runtime, steps).tool(hold).state(Mutex::new(gate))).await;
    let journal = script::journal(&runtime);
    assert_eq!((journal.matches("tool.started").count(), journal.matches("tool.failed").count()), (1, 2));
    let_go.send(()).unwrap();
}

/// Counts to three.
#[tool(read_only)]
async fn count(context: ToolContext) -> bool {
    for done in 1..=3 {
        context.progress_of(done, 3, "数数");
    }
    context.deadline().is_some() && !context.is_cancelled()
}

#[tokio::test(start_paused = true)]
async fn progress_is_shown_in_its_place_and_stands_in_no_journal() {
    let runtime = Runtime::for_tests();
    let steps = [Step::call("count", json!({})), Step::text("ok").expect_tool_result("OK: true")];
    let handle = agent(&runtime, steps).tool(count).build().unwrap().start("go").await.unwrap();
    let mut seen = String::new();
    let mut envelopes = handle.envelopes();
    while let Some(envelope) = envelopes.next().await.unwrap() {
        if envelope.body.name().starts_with("tool.") {
            seen += &format!("{:?} in {}\n", envelope.body, envelope.seq);
        }
    }
    expect![[r#"
        tool.call {"call_id":"t1.0","tool":"count","arguments":{},"effect":"read_only"} in 4
        tool.started {"call_id":"t1.0"} in 5
        tool.progress {"call_id":"t1.0","text":"数数","done":1,"total":3} in 0
        tool.progress {"call_id":"t1.0","text":"数数","done":2,"total":3} in 0
        tool.progress {"call_id":"t1.0","text":"数数","done":3,"total":3} in 0
        tool.returned {"call_id":"t1.0","result":true,"shown":"OK: true"} in 6
    "#]]
    .assert_eq(&seen);
    assert!(!script::journal(&runtime).contains("tool.progress"));
}

/// Draws a map.
#[tool(read_only)]
async fn draw(
    /// how many bytes
    bytes: usize,
) -> ToolOutput {
    let image = Image::new("image/png", vec![0; bytes]);
    ToolOutput::text("地图")
        .with_image(image)
        .with_image(Image::at("image/webp", "https://example.com/a.webp"))
}

#[tokio::test(start_paused = true)]
async fn images_reach_the_model_in_the_tool_message_and_the_laws_hold() {
    let runtime = Runtime::for_tests();
    // The second one is so large that it lies beside the journal.
    let model = ScriptedModel::new([
        Step::call("draw", json!({"bytes": 3})),
        Step::call("draw", json!({"bytes": 40_000})),
        Step::text("ok").expect_tool_result("地图"),
    ]);
    run(Agent::builder("assistant").model(model.clone()).runtime(&runtime).tool(draw)).await;
    let messages = model.sent()[1].messages.decode().unwrap();
    expect![[r#"{"role":"tool","content":[{"text":"OK: 地图","type":"text"},{"image_url":{"url":"data:image/png;base64,AAAA"},"type":"image_url"},{"image_url":{"url":"https://example.com/a.webp"},"type":"image_url"}],"tool_call_id":"t1.0"}"#]].assert_eq(&String::from_utf8_lossy(&messages[2].render()));
    let journal = script::journal(&runtime);
    let returned: Vec<&str> = journal.lines().filter(|line| line.contains(" tool.returned ")).collect();
    expect![[r#"6 tool.returned tool.draw -> orchestrator (5) ends 4 begun {"call_id":"t1.0","images":[{"data":"AAAA","mime_type":"image/png"},{"mime_type":"image/webp","url":"https://example.com/a.webp"}],"result":"地图","shown":"OK: 地图"}"#]].assert_eq(returned[0]);
    assert!(returned[1].contains(r#""data":{"$blob":"#), "{}", returned[1]);
}

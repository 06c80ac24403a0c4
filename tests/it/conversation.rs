//! Conversations: a task that goes on from the context that an earlier one left, whatever became of that one.

use std::time::Duration;

use expect_test::{Expect, expect};
use hermes_actors::{Agent, End, History, Outcome, Runtime, TaskRequest, rebuild, records_of, tool};
use hermes_bus::TraceId;
use hermes_bus::journal::Entry;
use hermes_llm::{ScriptedModel, Step};
use serde_json::json;

use crate::script;

/// The population of a city.
///
/// # Arguments
/// - city: its name
#[tool(read_only)]
async fn population(city: String) -> String {
    format!("{city}: 2 million")
}

/// Digs for an hour.
#[tool(timeout = "120m")]
async fn dig() -> String {
    tokio::time::sleep(Duration::from_secs(3600)).await;
    "gold".to_owned()
}

fn agent(runtime: &Runtime, steps: impl IntoIterator<Item = Step>) -> Agent {
    let model = ScriptedModel::new(steps);
    let builder =
        Agent::builder("assistant").system_prompt("Be brief.").model(model).tool(population).tool(dig);
    builder.runtime(runtime).max_iterations(2).build().unwrap()
}

/// The messages that the model of a rebuilt task reads, a line each.
fn context(runtime: &Runtime, trace: TraceId) -> String {
    let journal = &**runtime.journal();
    let records = records_of(journal, trace).unwrap();
    let start = Entry::parse(&records[0]).unwrap().id;
    let task = rebuild(journal, &records, start).unwrap().task;
    let messages = task.messages().decode().unwrap();
    messages
        .iter()
        .map(|message| {
            let text = message.text().unwrap_or_default();
            let calls: Vec<&str> = message.tool_calls.iter().map(|call| call.name.as_str()).collect();
            format!("{:?}: {text}{}\n", message.role, calls.join(", "))
        })
        .collect()
}

/// The journal of one trace.
fn journal(runtime: &Runtime, trace: TraceId) -> String {
    let all = script::journal(runtime);
    let before = records_of(&**runtime.journal(), trace).unwrap()[0].seq as usize - 1;
    all.lines().skip(before).map(|line| format!("{line}\n")).collect()
}

async fn check(runtime: &Runtime, outcome: &Outcome, context_is: Expect) {
    context_is.assert_eq(&context(runtime, outcome.trace_id));
}

#[tokio::test(start_paused = true)]
async fn a_task_goes_on_from_the_one_before() {
    let runtime = Runtime::for_tests();
    let agent = agent(
        &runtime,
        [
            Step::call("population", json!({"city": "Sofia"})),
            Step::text("About two million."),
            Step::text("It is the capital.").expect_user("And what else?"),
        ],
    );
    let first = agent.run("How many live in Sofia?").await.unwrap();
    let second = agent.run(TaskRequest::new("And what else?").after(first.history.clone())).await.unwrap();
    assert_eq!(second.answer.as_deref(), Some("It is the capital."));
    expect![[r##"
        10 task.start user -> orchestrator () {"history":{"seq":9,"trace":"of 1"},"task":"And what else?"}
        11 llm.chat orchestrator -> llm (10) {"append":[{"of":"#8"},{"of":"#10"}],"turn":1}
        12 llm.replied llm -> orchestrator (11) ends 11 {"finish":"stop","message":{"content":"It is the capital.","role":"assistant"}}
        13 task.finished orchestrator -> final (12) ends 10 {"answer":"It is the capital.","outcome":"completed"}
    "##]].assert_eq(&journal(&runtime, second.trace_id).replace(&first.trace_id.to_string(), "of 1"));
    check(
        &runtime,
        &second,
        expect![[r#"
        System: Be brief.
        User: How many live in Sofia?
        Assistant: population
        Tool: OK: Sofia: 2 million
        Assistant: About two million.
        User: And what else?
        Assistant: It is the capital.
    "#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_task_leaves_a_context_that_the_next_one_can_use() {
    let runtime = Runtime::for_tests();
    let agent = agent(&runtime, [Step::call("dig", json!({})), Step::text("No gold then.")]);
    let handle = agent.start("Dig for gold.").await.unwrap();
    let canceller = handle.canceller();
    let (first, ()) = tokio::join!(handle.outcome(), async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        canceller.cancel();
    });
    assert_eq!(first.end, End::Cancelled);
    let second = agent.run(TaskRequest::new("Stop digging.").after(first.history)).await.unwrap();
    check(
        &runtime,
        &second,
        expect![[r#"
            System: Be brief.
            User: Dig for gold.
            Assistant: dig
            Tool: ERROR: the task was cancelled
            Assistant: (This was broken off before I answered.)
            User: Stop digging.
            Assistant: No gold then.
        "#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_answer_at_the_limit_is_remembered_without_the_calls_that_were_not_made() {
    let runtime = Runtime::for_tests();
    let ask = || Step::call("population", json!({"city": "Sofia"}));
    let agent = agent(&runtime, [ask(), ask(), Step::text("Many."), Step::text("Yes.")]);
    let first = agent.run("How many?").await.unwrap();
    assert_eq!(first.end, End::MaxIterations);
    let second = agent.run(TaskRequest::new("Sure?").after(first.history)).await.unwrap();
    check(&runtime, &second, expect![[r#"
        System: Be brief.
        User: How many?
        Assistant: population
        Tool: OK: Sofia: 2 million
        Assistant: population
        Tool: OK: Sofia: 2 million
        User: You have used all your turns. Answer now from what you have gathered; no tool can be called any more.
        Assistant: Many.
        User: Sure?
        Assistant: Yes.
    "#]])
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_long_conversation_is_rebuilt_from_its_last_task() {
    let runtime = Runtime::for_tests();
    let steps = (0..40).map(|turn| Step::text(format!("第{turn}句")));
    let agent = agent(&runtime, steps);
    let (mut history, mut last) = (None, None);
    for turn in 0..40 {
        let outcome = agent.run(TaskRequest::new(format!("{turn}?")).after(history)).await.unwrap();
        (history, last) = (outcome.history.clone(), Some(outcome.trace_id));
    }
    let context = context(&runtime, last.unwrap());
    assert_eq!(context.lines().count(), 1 + 2 * 40);
    assert!(context.ends_with("User: 39?\nAssistant: 第39句\n"), "{context}");
}

#[tokio::test(start_paused = true)]
async fn a_past_that_is_not_in_the_journal_is_named() {
    let (runtime, elsewhere) = (Runtime::for_tests(), Runtime::builder(memory()).start());
    let there = agent(&runtime, [Step::text("one")]).run("1").await.unwrap();
    let here = agent(&elsewhere, [Step::text("two")]);
    let error = here.run(TaskRequest::new("2").after(there.history)).await.unwrap_err();
    let says = "the task cannot go on from the history that it was given: the past that ends at seq 4 cannot be rebuilt: \
        memory holds no such task";
    assert_eq!(error.to_string(), says);
}

#[tokio::test(start_paused = true)]
async fn a_history_that_was_written_down_is_found_in_the_journal_again() {
    let runtime = Runtime::for_tests();
    let agent = agent(&runtime, [Step::text("one"), Step::text("two"), Step::text("three")]);
    let first = agent.run("1").await.unwrap();
    let second = agent.run(TaskRequest::new("2").after(first.history)).await.unwrap();
    let json = serde_json::to_string(&second.history.unwrap()).unwrap();
    let history: History = serde_json::from_str(&json).unwrap();
    let third = agent.run(TaskRequest::new("3").after(history)).await.unwrap();
    check(
        &runtime,
        &third,
        expect![[r#"
        System: Be brief.
        User: 1
        Assistant: one
        User: 2
        Assistant: two
        User: 3
        Assistant: three
    "#]],
    )
    .await;
}

fn memory() -> std::sync::Arc<dyn hermes_bus::journal::Journal> {
    std::sync::Arc::new(hermes_bus::journal::MemoryJournal::default())
}

#[tokio::test(start_paused = true)]
async fn meta_stands_in_every_envelope_of_the_task() {
    let runtime = Runtime::for_tests();
    let agent = agent(&runtime, [Step::text("hi")]);
    let outcome = agent.run(TaskRequest::new("hello").meta("user", "安娜")).await.unwrap();
    for record in records_of(&**runtime.journal(), outcome.trace_id).unwrap() {
        let meta = Entry::parse(&record).unwrap().meta.unwrap();
        assert_eq!(meta["user"], "安娜");
    }
}

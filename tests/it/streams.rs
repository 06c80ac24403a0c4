//! Streams of what a task does and says: readers see everything in its place, and change nothing.

use std::time::Duration;

use async_trait::async_trait;
use expect_test::expect;
use hermes_actors::protocol::LlmDelta;
use hermes_actors::{Agent, Runtime, TaskHandle, tool};
use hermes_bus::Payload;
use hermes_llm::{
    ChatError, ChatMessage, ChatModel, ChatReply, ChatRequest, Delta, Deltas, Finish, ScriptedModel, Step,
    ToolCall, Usage,
};

use crate::script::journal;

/// Adds.
///
/// # Arguments
/// - a: one number
/// - b: the other
#[tool(read_only)]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Tells these deltas, then replies as the script says.
struct Telling(Vec<Delta>, ScriptedModel);

#[async_trait]
impl ChatModel for Telling {
    fn name(&self) -> &str {
        "telling"
    }

    async fn chat(&self, request: ChatRequest, deltas: Deltas) -> Result<ChatReply, ChatError> {
        for delta in &self.0 {
            deltas.tell(delta.clone());
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        self.1.chat(request, Deltas::none()).await
    }
}

fn text(text: &str) -> Delta {
    Delta::Text(text.to_owned())
}

async fn start(runtime: &Runtime, deltas: impl Into<Vec<Delta>>, steps: Vec<Step>) -> TaskHandle {
    let model = Telling(deltas.into(), ScriptedModel::new(steps));
    let agent = Agent::builder("poet").model(model).tool(add).runtime(runtime).build().unwrap();
    agent.start("Recite.").await.unwrap()
}

/// All pieces, a `|` between them.
async fn pieces(handle: TaskHandle) -> String {
    let mut stream = handle.text();
    let mut pieces = Vec::new();
    while let Some(piece) = stream.next().await {
        pieces.push(piece);
    }
    handle.outcome().await;
    pieces.join("|")
}

#[tokio::test(start_paused = true)]
async fn text_comes_in_the_pieces_in_which_it_is_said() {
    let runtime = Runtime::for_tests();
    let said = [text("床前"), Delta::Reasoning("rhyme?".into()), text("明月光，"), text("疑是")];
    let handle = start(&runtime, said, vec![Step::text("床前明月光，疑是地上霜。")]).await;
    assert_eq!(pieces(handle).await, "床前|明月光，|疑是|地上霜。");
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_broke_begins_anew_after_an_empty_line() {
    let runtime = Runtime::for_tests();
    let said = [text("Half a sen"), Delta::Again, text("A whole "), text("sentence.")];
    let handle = start(&runtime, said, vec![Step::text("A whole sentence.")]).await;
    assert_eq!(pieces(handle).await, "Half a sen|\n\nA whole |sentence.");
}

#[tokio::test(start_paused = true)]
async fn the_texts_of_two_turns_are_set_apart_and_a_model_that_does_not_stream_speaks_at_once() {
    let runtime = Runtime::for_tests();
    let mut message = ChatMessage::assistant("Let me see.");
    message.tool_calls = vec![ToolCall::new("c1", "add", r#"{"a":1,"b":2}"#)];
    let (finish, usage) = (Finish::ToolCalls, Usage::default());
    let call = Step::reply(ChatReply { message, finish, usage, time_to_first_token: None });
    let handle = start(&runtime, [], vec![call, Step::text("It is 3.")]).await;
    assert_eq!(pieces(handle).await, "Let me see.|\n\nIt is 3.");
}

#[tokio::test(start_paused = true)]
async fn interim_envelopes_stand_in_their_places() {
    let runtime = Runtime::for_tests();
    let call = Delta::ToolCall { index: 0, name: "add".into(), arguments: "{\"a\"".into() };
    let handle = start(&runtime, [text("Hi"), call, Delta::Again], vec![Step::text("Hi")]).await;
    let mut envelopes = handle.envelopes();
    let mut seen = String::new();
    while let Some(envelope) = envelopes.next().await.unwrap() {
        let mut json = Vec::new();
        if envelope.body.is::<LlmDelta>() {
            envelope.body.write_journal(&mut json).unwrap();
        }
        seen += &format!("{} {} {}\n", envelope.seq, envelope.body.name(), String::from_utf8(json).unwrap());
    }
    expect![[r#"
        1 task.start 
        2 llm.chat 
        0 llm.delta {"turn":1,"delta":{"text":"Hi"}}
        0 llm.delta {"turn":1,"at":2,"delta":{"tool_call":{"index":0,"name":"add","arguments":"{\"a\""}}}
        0 llm.delta {"turn":1,"at":2,"delta":"again"}
        3 llm.replied 
        4 task.finished 
    "#]]
    .assert_eq(&seen);
    assert!(!journal(&runtime).contains(LlmDelta::NAME), "deltas are not journaled");
}

#[tokio::test(start_paused = true)]
async fn deltas_read_back_as_they_were_told() {
    let call = Delta::ToolCall { index: 1, name: String::new(), arguments: "}".into() };
    for delta in [text("北京"), Delta::Reasoning("hm".into()), call, Delta::Again] {
        let told = LlmDelta { turn: 3, purpose: Default::default(), at: 7, delta };
        let json = serde_json::to_string(&told).unwrap();
        assert_eq!(serde_json::from_str::<LlmDelta>(&json).unwrap(), told, "{json}");
    }
}

/// A reader that never reads, and one that is dropped in the middle, change nothing.
#[tokio::test(start_paused = true)]
async fn readers_change_nothing() {
    let many: Vec<Delta> = (0..10_000).map(|n| text(&format!("{n} "))).collect();
    let whole: String = (0..10_000).map(|n| format!("{n} ")).collect();
    let steps = || vec![Step::text(whole.as_str())];
    let alone = Runtime::for_tests();
    start(&alone, many.clone(), steps()).await.outcome().await;

    let watched = Runtime::for_tests();
    let handle = start(&watched, many, steps()).await;
    let (never, mut dropped, mut late) = (handle.text(), handle.envelopes(), handle.text());
    dropped.next().await.unwrap();
    drop(dropped);
    let outcome = handle.outcome().await;
    assert_eq!(outcome.into_answer().unwrap(), whole);
    assert_eq!(journal(&watched), journal(&alone));

    let mut said = String::new();
    while let Some(piece) = late.next().await {
        said += &piece;
    }
    assert_eq!(said, whole, "one who reads late misses pieces, but not the text");
    drop(never);
}

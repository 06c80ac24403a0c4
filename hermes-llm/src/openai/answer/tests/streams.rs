//! Streams as servers send them, and what becomes of each.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::super::{Answer, Came, Stage};
use crate::openai::unread::Unread;
use crate::{ChatReply, Content, Delta, Deltas, Finish, ToolCall, Usage};

/// A listener, and what it heard.
pub(super) fn recorder() -> (Deltas, Arc<Mutex<Vec<Delta>>>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let record = heard.clone();
    (Deltas::to(move |delta| record.lock().unwrap().push(delta)), heard)
}

/// Reads a stream that comes in one piece.
pub(super) fn read(stream: &str) -> (Result<ChatReply, Unread>, Vec<Delta>) {
    let (deltas, heard) = recorder();
    let mut answer = Answer::default();
    let reply = answer.push(stream.as_bytes(), &deltas).and_then(|_| answer.finish(&deltas));
    let heard = heard.lock().unwrap().clone();
    (reply, heard)
}

pub(super) fn reply(stream: &str) -> ChatReply {
    read(stream).0.unwrap()
}

pub(super) fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}

/// A chunk of a stream with this delta.
pub(super) fn chunk(delta: Value) -> String {
    event(
        &json!({"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]}),
    )
}

pub(super) fn stop(word: &str) -> String {
    event(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": word}]}))
}

pub(super) const DONE: &str = "data: [DONE]\n\n";

/// A whole stream of these parts of tool calls, one in each chunk.
fn calls(parts: impl IntoIterator<Item = Value>) -> Vec<ToolCall> {
    let parts: String = parts.into_iter().map(|part| chunk(json!({"tool_calls": [part]}))).collect();
    reply(&format!("{parts}{}{DONE}", stop("tool_calls"))).message.tool_calls
}

fn part(index: Value, id: Value, name: Value, arguments: Value) -> Value {
    json!({"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}

#[test]
fn text_thoughts_and_usage_come_together() {
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 8}}});
    let stream = [
        &chunk(json!({"role": "assistant", "content": ""})),
        ": alive\n\ndata:\n\n",
        &chunk(json!({"reasoning_content": "让我"})),
        &chunk(json!({"reasoning_content": "想"})),
        &chunk(json!({"content": "你好", "refusal": null})),
        &chunk(json!({"content": " 👋🏽"})),
        &stop("stop"),
        &event(&usage),
        DONE,
    ];
    let (reply, told) = read(&stream.concat());
    let reply = reply.unwrap();
    assert_eq!(reply.message.text().as_deref(), Some("你好 👋🏽"));
    assert_eq!(Value::Object(reply.message.extra), json!({"reasoning_content": "让我想", "refusal": null}));
    assert_eq!(reply.finish, Finish::Stop);
    assert_eq!(reply.usage, Usage { input_tokens: 9, output_tokens: 4, cached_tokens: 8 });
    let (text, thought) = (|text: &str| Delta::Text(text.into()), |text: &str| Delta::Reasoning(text.into()));
    assert_eq!(told, [thought("让我"), thought("想"), text("你好"), text(" 👋🏽")]);
}

#[test]
fn calls_interleave_by_their_index() {
    let parts = [
        part(json!(0), json!("a"), json!("get_weather"), json!("")),
        part(json!(4), json!("b"), json!("read_file"), json!("{\"p")),
        part(json!(0), json!(null), json!(null), json!("{\"city\":")),
        part(json!(4), json!(null), json!(""), json!("\":1}")),
        part(json!(0), json!("a"), json!("get_weather"), json!("\"北京\"}")),
    ];
    let stream: String = parts.iter().map(|part| chunk(json!({"tool_calls": [part]}))).collect();
    let (reply, told) = read(&(stream + &stop("tool_calls")));
    let reply = reply.unwrap();
    assert_eq!(
        reply.message.tool_calls,
        [
            ToolCall::new("a", "get_weather", r#"{"city":"北京"}"#),
            ToolCall::new("b", "read_file", r#"{"p":1}"#)
        ]
    );
    assert_eq!(reply.message.content, None);
    let told: Vec<_> = told.iter().map(|delta| serde_json::to_string(delta).unwrap()).collect();
    assert_eq!(
        told,
        [
            r#"{"tool_call":{"index":0,"name":"get_weather","arguments":""}}"#,
            r#"{"tool_call":{"index":1,"name":"read_file","arguments":"{\"p"}}"#,
            r#"{"tool_call":{"index":0,"arguments":"{\"city\":"}}"#,
            r#"{"tool_call":{"index":1,"arguments":"\":1}"}}"#,
            r#"{"tool_call":{"index":0,"arguments":"\"北京\"}"}}"#,
        ]
    );
}

#[test]
fn calls_are_told_apart_without_an_index() {
    let whole = |id: Value, arguments: &str| part(json!(null), id, json!("search"), json!(arguments));
    let two = |one: &str, other: &str| {
        [ToolCall::new(one, "search", "{\"q\":1}"), ToolCall::new(other, "search", "{\"q\":2}")]
    };
    assert_eq!(calls([whole(json!("a"), "{\"q\":1}"), whole(json!("b"), "{\"q\":2}")]), two("a", "b"));
    assert_eq!(calls([whole(json!(null), "{\"q\":1}"), whole(json!(""), "{\"q\":2}")]), two("", ""));
    // Without an id, or under an index that each call has.
    let zero = |arguments: &str| part(json!(0), json!(null), json!("search"), json!(arguments));
    assert_eq!(calls([zero("{\"q\":1}"), zero("{\"q\":2}")]), two("", ""));
    let zero = |id: &str, arguments: &str| part(json!(0), json!(id), json!("search"), json!(arguments));
    assert_eq!(calls([zero("a", "{\"q\":1}"), zero("b", "{\"q\":2}")]), two("a", "b"));
    // The same id for both, told apart by the index.
    let twice =
        |index: u8, arguments: &str| part(json!(index), json!("a"), json!("search"), json!(arguments));
    assert_eq!(calls([twice(0, "{\"q\":1}"), twice(1, "{\"q\":2}")]), two("a", "a"));
}

#[test]
fn names_and_arguments_are_put_together_however_they_are_cut() {
    let search = |arguments: &str| [ToolCall::new("a", "search", arguments)];
    let null = || json!(null);
    let a = || json!("a");
    for (parts, expected) in [
        (
            vec![part(null(), a(), json!("sea"), null()), part(null(), null(), json!("rch"), json!("{}"))],
            "{}",
        ),
        (
            vec![
                part(json!(1), a(), null(), json!("{\"q\":")),
                part(json!(1), a(), json!("search"), json!("1}")),
            ],
            "{\"q\":1}",
        ),
        (
            vec![
                part(json!("0"), a(), json!("search"), json!("{")),
                part(json!(0), null(), null(), json!("}")),
            ],
            "{}",
        ),
        (vec![part(json!(-1), a(), json!("search"), json!({"q": "数"}))], "{\"q\":\"数\"}"),
        (vec![json!({"id": "a", "function": {"name": "search"}}), json!({"function": null})], ""),
    ] {
        assert_eq!(calls(parts), search(expected));
    }
}

#[test]
fn what_is_unknown_in_a_call_is_kept_in_it() {
    let begun = json!({"index": 0, "id": "a", "extra_content": {"sig": "x"}, "function": {"name": "f", "arguments": "{", "thought": 1}});
    let rest = json!({"index": 0, "id": "a", "extra_content": {"sig": "x"}, "function": {"arguments": "}"}});
    let call = &calls([begun, rest])[0];
    assert_eq!(call.arguments, "{}");
    assert_eq!(
        Value::Object(call.extra.clone()),
        json!({"extra_content": {"sig": "x"}, "function": {"thought": 1}})
    );
}

#[test]
fn the_end_is_told_in_many_ways() {
    let hi = chunk(json!({"content": "Hi"}));
    let tail = |finish: Value, usage: Value| {
        event(&json!({"choices": [{"delta": null, "finish_reason": finish}], "usage": usage}))
    };
    let counted = json!({"prompt_tokens": 3, "completion_tokens": 2});
    let usage = Usage { input_tokens: 3, output_tokens: 2, cached_tokens: 0 };
    for (end, finish, used) in [
        (stop("stop"), Finish::Stop, Usage::default()),
        (stop("tool_calls") + &stop("stop") + DONE, Finish::ToolCalls, Usage::default()),
        (DONE.to_owned(), Finish::default(), Usage::default()),
        ("data:[DONE] \n\ndata: [DONE]".to_owned(), Finish::default(), Usage::default()),
        (tail(json!("length"), counted.clone()), Finish::Length, usage),
        (tail(json!(""), counted.clone()) + &stop("eos"), Finish::Unknown("eos".into()), usage),
        (
            tail(json!(null), json!({"prompt_tokens_details": {}})) + &tail(json!("stop"), counted),
            Finish::Stop,
            usage,
        ),
        (
            event(&json!({"choices": [{"message": {"content": "!"}, "finish_reason": "stop"}]})),
            Finish::Stop,
            Usage::default(),
        ),
    ] {
        let reply = reply(&format!("{hi}{end}"));
        assert_eq!((reply.finish, reply.usage), (finish, used), "{end}");
        assert!(reply.message.text().unwrap().starts_with("Hi"));
    }
}

#[test]
fn content_in_parts_is_text_with_what_else_there_was() {
    let stream = [
        chunk(json!({"content": [{"type": "thinking", "thinking": "hm"}]})),
        chunk(json!({"content": [{"type": "text", "text": "四"}]})),
        chunk(json!({"content": "。"})),
        stop("stop"),
    ];
    let (reply, told) = read(&stream.concat());
    let parts = [json!({"type": "thinking", "thinking": "hm"}), json!({"type": "text", "text": "四。"})];
    assert_eq!(reply.unwrap().message.content, Some(Content::Parts(parts.to_vec())));
    assert_eq!(told, [Delta::Text("四".into()), Delta::Text("。".into())]);
}

#[test]
fn thoughts_under_two_names_are_told_once() {
    let (reply, told) = read(&(chunk(json!({"reasoning": "ha", "reasoning_content": "ha"})) + &stop("stop")));
    assert_eq!(told, [Delta::Reasoning("ha".into())]);
    assert_eq!(
        Value::Object(reply.unwrap().message.extra),
        json!({"reasoning": "ha", "reasoning_content": "ha"})
    );
}

#[test]
fn an_error_in_a_stream_is_what_it_would_be_outside() {
    let begun = chunk(json!({"content": "Hel"}));
    for (error, status) in [
        (event(&json!({"error": {"message": "queue is full", "code": 503}})), Some(503)),
        (event(&json!({"choices": [], "error": {"message": "slow down", "code": "429"}})), Some(429)),
        (event(&json!({"choices": [{"finish_reason": "error", "error": {"code": 429}}]})), Some(429)),
        ("error: {\"code\":500,\"message\":\"oops\"}\n\n".to_owned(), Some(500)),
        ("event: error\ndata: {\"error\":{\"code\":\"context_length_exceeded\"}}\n\n".to_owned(), Some(400)),
        ("{\"error\":{\"code\":502}}\n".to_owned(), Some(502)),
        ("event: error\ndata: out of memory\n\n".to_owned(), None),
        ("data: error: out of memory\n\n".to_owned(), None),
        (event(&json!({"object": "error", "message": "out of memory"})), None),
        (event(&json!({"error": "out of memory"})), None),
    ] {
        match (read(&format!("{begun}{error}{DONE}")).0.unwrap_err(), status) {
            (Unread::Refused { status, .. }, Some(expected)) => assert_eq!(status, expected, "{error}"),
            (Unread::Unusable { message, .. }, None) => {
                assert!(message.contains("out of memory"), "{message}")
            }
            (other, _) => panic!("{error}: {other:?}"),
        }
    }
}

#[test]
fn what_ends_too_early_is_broken() {
    for stream in [
        "",
        " \n",
        ": waiting\n\n: waiting\n\n",
        &chunk(json!({"content": "Hel"})),
        "data: {\"choices\":[{\"delta\":{\"content\":\"Hel",
        &chunk(json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "rm", "arguments": ""}}]})),
    ] {
        assert!(matches!(read(stream).0, Err(Unread::Broken)), "{stream:?}");
    }
}

#[test]
fn what_is_no_stream_of_chunks_is_shown() {
    for (stream, says) in [
        ("data: {choices}\n\n", "no chunk"),
        ("data: {\"choices\":[{\"delta\":{\"content\":7}}]}\n\n", "unknown shape"),
        ("Internal Server Error", "Internal Server Error"),
        ("data: [DONE]\n\n", "no message"),
        ("<html>hello</html>", "<html>hello</html>"),
    ] {
        match read(stream).0.unwrap_err() {
            Unread::Unusable { message, .. } => assert!(message.contains(says), "{message}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn only_a_whole_byte_order_mark_is_dropped() {
    for (body, says) in [("！过载", "！过载"), ("\u{feff} ！x", "！x")] {
        for size in 1..4 {
            let mut answer = Answer::default();
            for packet in body.as_bytes().chunks(size) {
                answer.push(packet, &Deltas::none()).unwrap();
            }
            let error = answer.finish(&Deltas::none()).unwrap_err();
            let Unread::Unusable { message, .. } = error else { panic!("{error:?}") };
            assert!(message.ends_with(&format!("what came: {says}")), "{message}");
        }
    }
}

#[test]
fn events_of_the_servers_own_kind_are_passed_over() {
    let own = "event: tool.progress\ndata: {\"choices\":7}\n\nevent: ping\ndata: 1\n\n";
    let named = "event: chunk\ndata: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n";
    assert_eq!(reply(&format!("{own}{named}{own}{DONE}")).message.text().as_deref(), Some("Hi"));
}

#[test]
fn an_answer_that_does_not_stream_is_read_all_the_same() {
    let body = json!({"choices": [{"message": {"content": "整"}, "finish_reason": "stop"}]});
    let (reply, told) = read(&format!("\n\n{body}"));
    assert_eq!(reply.unwrap().message.text().as_deref(), Some("整"));
    assert!(told.is_empty());
}

#[test]
fn it_is_known_how_far_the_answer_has_come() {
    let mut answer = Answer::default();
    let mut push = |bytes: &str| {
        let came = answer.push(bytes.as_bytes(), &Deltas::none()).unwrap();
        (came, answer.stage(), answer.is_streaming(), answer.has_content())
    };
    assert_eq!(push("\n"), (Came::Heartbeat, Stage::Open, false, false));
    assert_eq!(push(": hello\n\ndata:\n\n"), (Came::Heartbeat, Stage::Open, false, false));
    assert_eq!(push(&chunk(json!({"role": "assistant"}))), (Came::Data, Stage::Open, true, false));
    assert_eq!(push(&chunk(json!({"content": "好"}))), (Came::Data, Stage::Open, true, true));
    assert_eq!(push(&stop("stop")), (Came::Data, Stage::Finished, true, true));
    let usage = event(&json!({"choices": [], "usage": {"completion_tokens": 1}}));
    assert_eq!(push(&usage), (Came::Data, Stage::Complete, true, true));
}

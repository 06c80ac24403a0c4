//! Replies that come whole.

use serde_json::{Value, json};

use super::super::read_whole;
use crate::openai::unread::Unread;
use crate::{ChatMessage, ChatReply, Finish, ToolCall, Usage};

fn read(body: Value) -> Result<ChatReply, Unread> {
    read_whole(body.to_string().as_bytes())
}

fn message(message: Value) -> ChatMessage {
    read(json!({"choices": [{"message": message}]})).unwrap().message
}

#[test]
fn reads_a_full_reply() {
    let reply = read(json!({
        "id": "x", "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
            "role": "assistant", "content": null, "refusal": null,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 8}}
    }))
    .unwrap();
    assert_eq!(reply.message.tool_calls, [ToolCall::new("c1", "f", "{}")]);
    assert_eq!(reply.message.text(), None);
    assert_eq!(reply.message.extra["refusal"], Value::Null);
    assert_eq!(reply.finish, Finish::ToolCalls);
    assert_eq!(reply.usage, Usage { input_tokens: 12, output_tokens: 3, cached_tokens: 8 });
}

#[test]
fn reads_what_is_missing_null_or_odd() {
    let bare = read(json!({"choices": [{"message": {"content": "hi"}}], "usage": null})).unwrap();
    assert_eq!(bare.message, ChatMessage::assistant("hi"));
    assert_eq!((bare.finish, bare.usage), (Finish::Unknown(String::new()), Usage::default()));

    assert!(read(json!({"error": "", "choices": [{"message": {}}]})).is_ok());

    assert_eq!(message(json!({"role": "model", "tool_calls": null})).tool_calls, []);
    let parts = json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]});
    assert_eq!(message(parts).text().as_deref(), Some("ab"));
    let object = json!({"tool_calls": [{"function": {"name": "f", "arguments": {"city": "北京"}}}]});
    assert_eq!(message(object).tool_calls, [ToolCall::new("", "f", r#"{"city":"北京"}"#)]);
}

#[test]
fn what_is_no_reply_is_shown() {
    for (body, says) in [
        (&b"<html>hello</html>"[..], "<html>hello</html>"),
        (b"{]", "no chat completion"),
        (b"{\"choices\":[{\"message\":{\"content\":\"\xff\"}}]}", "not UTF-8"),
        (b"{\"ignored\":\"\xff\"}", "not UTF-8"),
        (br#"{"choices":[]}"#, r#"no message; what came: {"choices":[]}"#),
        (br#"{"choices":[{}]}"#, "no message"),
        (br#"{"choices":[{"message":{"content":7}}]}"#, "unknown shape"),
        (br#"{"error":{"message":"out of memory","code":"x"}}"#, "it holds an error: out of memory"),
        (br#"{"error":"boom"}"#, "it holds an error: boom"),
    ] {
        match read_whole(body).unwrap_err() {
            Unread::Unusable { message, .. } => assert!(message.contains(says), "{message}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn an_error_inside_that_names_a_status_counts_as_that_status() {
    for (error, expected) in [
        (json!({"error": {"message": "busy", "code": 429}}), 429),
        (json!({"error": {"message": "long", "code": "context_length_exceeded"}}), 400),
    ] {
        assert!(matches!(read(error), Err(Unread::Refused { status, .. }) if status == expected));
    }
}

#[test]
fn a_message_is_found_under_the_name_of_a_chunks_and_the_last_of_two_equal_keys_holds() {
    let body =
        br#"{"choices":[{"delta":{"content":"a","content":"b","tool_calls":[{"id":"1"},{"id":"1"}]}}]}"#;
    let message = read_whole(body).unwrap().message;
    assert_eq!(message.text().as_deref(), Some("b"));
    assert_eq!(message.tool_calls, [ToolCall::new("1", "", ""), ToolCall::new("1", "", "")]);
}

#[test]
fn what_is_cut_off_is_broken() {
    for body in [&b""[..], b"{\"choices\":[{\"mess", b"{\"choices\":[{\"message\":{\"content\":\"\xe5\x8c"] {
        assert!(matches!(read_whole(body), Err(Unread::Broken)));
    }
}

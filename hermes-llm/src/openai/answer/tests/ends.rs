//! Where a reply ends, and what is neither its end nor a part of it.

use serde_json::{Value, json};

use super::super::{Answer, Came, Stage};
use super::streams::{DONE, chunk, event, read, reply, stop};
use crate::openai::unread::Unread;
use crate::{Deltas, Finish, ToolCall};

/// A chunk that says this, and that the model has stopped, and what it cost.
fn said_and_stopped(delta: Value, word: &str) -> String {
    let usage = json!({"prompt_tokens": 1, "completion_tokens": 1});
    event(&json!({"choices": [{"delta": delta, "finish_reason": word}], "usage": usage}))
}

#[test]
fn a_finish_in_every_chunk_cuts_nothing() {
    let mut answer = Answer::default();
    let stages: Vec<_> = ["晴", "，", "出门。"]
        .map(|text| {
            answer
                .push(said_and_stopped(json!({"content": text}), "stop").as_bytes(), &Deltas::none())
                .unwrap();
            (answer.stage(), answer.may_end())
        })
        .into();
    assert_eq!(stages, [(Stage::Doubtful, true), (Stage::Open, true), (Stage::Open, true)]);
    assert_eq!(answer.finish(&Deltas::none()).unwrap().message.text().as_deref(), Some("晴，出门。"));
}

#[test]
fn the_last_of_many_words_for_the_finish_holds() {
    let cut = said_and_stopped(json!({"content": "a"}), "stop")
        + &said_and_stopped(json!({"content": "b"}), "length");
    assert_eq!(reply(&cut).finish, Finish::Length);
}

#[test]
fn a_call_after_a_first_finish_is_not_lost() {
    let call = |index: u8| json!({"tool_calls": [{"index": index, "id": index.to_string(), "function": {"name": "f", "arguments": "{}"}}]});
    let calls = [ToolCall::new("0", "f", "{}"), ToolCall::new("1", "f", "{}")];
    let stream = chunk(call(0)) + &stop("tool_calls") + &chunk(call(1));
    assert_eq!(reply(&stream).message.tool_calls, calls);
    let stream = said_and_stopped(call(0), "stop") + &said_and_stopped(call(1), "stop") + DONE;
    assert_eq!(reply(&stream).message.tool_calls, calls);
}

#[test]
fn half_an_event_after_a_finish_that_meant_nothing_is_broken() {
    let each = said_and_stopped(json!({"content": "a"}), "stop");
    let half = r#"data: {"choices":[{"delta":{"con"#;
    assert!(matches!(read(&format!("{each}{half}")).0, Err(Unread::Broken)));
    assert!(read(&format!("{}{}{half}", chunk(json!({"content": "a"})), stop("stop"))).0.is_ok());
}

#[test]
fn events_that_bring_nothing_are_heartbeats() {
    let mut answer = Answer::default();
    let mut came = |stream: &str| answer.push(stream.as_bytes(), &Deltas::none()).unwrap();
    let usage = event(&json!({"choices": [], "usage": {"completion_tokens": 1}}));
    for stream in [
        "data: {}\n\n",
        "data: {\"choices\":[]}\n\n",
        "data: {\"usage\":null}\n\n",
        "data: ping\n\n",
        "event: progress\ndata: {\"choices\":7}\n\n",
    ] {
        assert_eq!(came(stream), Came::Heartbeat, "{stream}");
    }
    for stream in [
        chunk(json!({"role": "assistant", "content": ""})),
        chunk(json!({"thoughts": ["想"]})),
        usage,
        stop("stop"),
    ] {
        assert_eq!(came(&stream), Came::Data, "{stream}");
        let again = if stream.contains("thoughts") { Came::Data } else { Came::Heartbeat };
        assert_eq!(came(&stream), again, "{stream}");
    }
}

#[test]
fn a_stream_of_events_that_bring_nothing_has_not_begun() {
    let mut answer = Answer::default();
    answer.push(b"data: ping\n\ndata: {}\n\n", &Deltas::none()).unwrap();
    assert!(!answer.is_streaming());
}

#[test]
fn plain_words_are_passed_over_if_a_reply_comes() {
    for word in ["ping", "keep-alive", "Processing …", "1"] {
        let word = format!("data: {word}\n\n");
        let stream = [
            &*word,
            &chunk(json!({"content": "好"})),
            &word,
            &chunk(json!({"content": "的"})),
            &stop("stop"),
            &word,
        ];
        assert_eq!(reply(&stream.concat()).message.text().as_deref(), Some("好的"));
    }
}

#[test]
fn a_plain_text_that_ends_a_stream_is_why_it_ended() {
    let hi = chunk(json!({"content": "Hi"}));
    let overloaded = "data: 服务过载\n\n";
    for stream in [overloaded.to_owned(), format!("{hi}{overloaded}"), format!("{hi}{overloaded}{DONE}")] {
        let error = read(&stream).0.unwrap_err();
        let Unread::Unusable { message, .. } = error else { panic!("{error:?}") };
        assert!(message.contains("it holds an error: 服务过载"), "{message}");
    }
    // A connection that breaks after it was kept alive, or after what was said was of no weight.
    for stream in
        ["data: Ping\n\n".to_owned(), format!("{hi}data: keep-alive\n\n"), format!("{overloaded}{hi}")]
    {
        assert!(matches!(read(&stream).0, Err(Unread::Broken)), "{stream}");
    }
}

#[test]
fn an_error_by_name_is_one_at_once() {
    let stream =
        format!("event: error\ndata: overloaded\n\n{}{}", chunk(json!({"content": "Hi"})), stop("stop"));
    assert!(matches!(read(&stream).0, Err(Unread::Unusable { .. })));
}

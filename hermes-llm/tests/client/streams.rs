//! Streams over a real connection: what is told while they come, what becomes of those that break or never end.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hermes_llm::{
    ChatError, ChatModel, ChatReply, Delta, Deltas, Endpoint, Finish, OpenAiModel, Streaming, ToolCall, Usage,
};
use serde_json::{Value, json};

use crate::question;
use crate::server::{Answer, End, Server};

const DONE: &str = "data: [DONE]\n\n";

/// Asks, and keeps what is told.
async fn ask(endpoint: Endpoint) -> (Result<ChatReply, ChatError>, Vec<Delta>) {
    let told = Arc::new(Mutex::new(Vec::new()));
    let record = told.clone();
    let deltas = Deltas::to(move |delta| record.lock().unwrap().push(delta));
    let reply = OpenAiModel::new(endpoint).unwrap().chat(question(), deltas).await;
    let told = told.lock().unwrap().clone();
    (reply, told)
}

fn text(text: &str) -> Delta {
    Delta::Text(text.into())
}

fn chunk(choice: Value) -> String {
    format!("data: {}\n\n", json!({"choices": [choice]}))
}

fn say(text: &str) -> String {
    chunk(json!({"delta": {"content": text}, "finish_reason": null}))
}

fn stop() -> String {
    chunk(json!({"delta": {}, "finish_reason": "stop"}))
}

fn usage() -> String {
    format!("data: {}\n\n", json!({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}))
}

/// These events, an event a packet.
fn stream(events: &[String], end: End) -> Answer {
    let packets = events.iter().map(|event| event.clone().into_bytes()).collect();
    Answer::Stream { packets, pause: Duration::ZERO, end }
}

/// A whole stream that says `text`.
fn saying(text: &str) -> Answer {
    stream(&[say(text), stop(), usage(), DONE.into()], End::Whole)
}

#[tokio::test]
async fn a_stream_is_told_as_it_comes_and_returned_whole() {
    let call = |function: Value| {
        chunk(json!({"delta": {"tool_calls": [{"index": 0, "id": "c1", "function": function}]}}))
    };
    let events = [
        chunk(json!({"delta": {"reasoning_content": "想"}})),
        say("看一下 🔍"),
        call(json!({"name": "get_weather", "arguments": "{\"city\":"})),
        call(json!({"arguments": "\"北京\"}"})),
        chunk(json!({"delta": {}, "finish_reason": "tool_calls"})),
        usage(),
        DONE.into(),
    ];
    let server = Server::start([stream(&events, End::Whole)]).await;
    let (reply, told) = ask(server.endpoint()).await;
    let reply = reply.unwrap();
    assert_eq!(reply.message.text().as_deref(), Some("看一下 🔍"));
    assert_eq!(reply.message.tool_calls, [ToolCall::new("c1", "get_weather", r#"{"city":"北京"}"#)]);
    assert_eq!(reply.message.extra["reasoning_content"], "想");
    assert_eq!((reply.finish, reply.usage.output_tokens), (Finish::ToolCalls, 2));
    let call = |name: &str, arguments: &str| Delta::ToolCall {
        index: 0,
        name: name.into(),
        arguments: arguments.into(),
    };
    assert_eq!(
        told,
        [
            Delta::Reasoning("想".into()),
            text("看一下 🔍"),
            call("get_weather", "{\"city\":"),
            call("", "\"北京\"}")
        ]
    );
    assert_eq!(server.received()[0].header("accept"), Some("application/json"));
}

#[tokio::test]
async fn packets_may_be_cut_anywhere_and_the_first_token_is_timed() {
    let whole = [say("晴🌞"), stop(), DONE.into()].concat().replace('\n', "\r\n");
    let packets: Vec<_> = whole.as_bytes().chunks(1).map(<[u8]>::to_vec).collect();
    let pause = Duration::from_micros(200);
    let server = Server::start([Answer::Stream { packets, pause, end: End::Whole }]).await;
    let begun = Instant::now();
    let (reply, told) = ask(server.endpoint()).await;
    let took = begun.elapsed();
    let reply = reply.unwrap();
    assert_eq!(reply.message.text().as_deref(), Some("晴🌞"));
    assert_eq!(told, [text("晴🌞")]);
    let first = reply.time_to_first_token.unwrap();
    assert!(Duration::from_millis(5) < first && first < took, "{first:?} of {took:?}");
}

#[tokio::test]
async fn a_connection_whose_stream_was_read_is_used_again() {
    let body = [say("好"), stop(), usage(), DONE.into()].concat();
    let server = Server::start([Answer::KeepAlive(vec![body.clone(), body])]).await;
    let model = server.model();
    for _ in 0..2 {
        assert_eq!(model.chat(question(), Deltas::none()).await.unwrap().usage.input_tokens, 7);
    }
    assert_eq!((server.received().len(), server.connections()), (2, 1));
}

#[tokio::test]
async fn a_stream_that_breaks_is_asked_again_and_never_half_of_the_reply() {
    let broken = |end| stream(&[say("It is"), say(" rai")], end);
    let server = Server::start([broken(End::Broken), broken(End::Whole), saying("晴")]).await;
    let (reply, told) = ask(server.endpoint()).await;
    assert_eq!(reply.unwrap().message.text().as_deref(), Some("晴"));
    let begun = [text("It is"), text(" rai"), Delta::Again];
    assert_eq!(told, [&begun[..], &begun, &[text("晴")]].concat());
    assert_eq!(server.received().len(), 3);
}

#[tokio::test]
async fn nothing_is_void_if_nothing_was_told() {
    let silent = stream(&[chunk(json!({"delta": {"role": "assistant", "content": ""}}))], End::Broken);
    let limited = Answer::Http { status: 429, headers: "retry-after: 0\r\n", body: Vec::new() };
    let empty = Answer::ok("");
    let server = Server::start([silent, limited, empty, saying("好")]).await;
    let (reply, told) = ask(server.endpoint()).await;
    assert_eq!(reply.unwrap().message.text().as_deref(), Some("好"));
    assert_eq!(told, [text("好")]);
}

#[tokio::test]
async fn a_stream_that_breaks_each_time_is_an_error_without_a_last_again() {
    let broken = || stream(&[say("a")], End::Broken);
    let server = Server::start([broken(), broken()]).await;
    let (reply, told) = ask(server.endpoint().retries(1)).await;
    let error = reply.unwrap_err();
    assert_eq!(error.kind(), "unreachable");
    assert!(error.to_string().contains("before the reply was complete"), "{error}");
    assert_eq!(told, [text("a"), Delta::Again, text("a")]);
}

#[tokio::test]
async fn silence_before_the_first_byte_is_not_repeated_and_between_chunks_once() {
    let twice = vec![text("a"), Delta::Again, text("a")];
    for (begun, requests, expected) in [(vec![], 1, vec![]), (vec![say("a")], 2, twice)] {
        let silent = || stream(&begun, End::Open);
        let server = Server::start([silent(), silent(), saying("late")]).await;
        let (reply, told) = ask(server.endpoint().timeout(Duration::from_millis(300))).await;
        let error = reply.unwrap_err();
        assert_eq!(error.kind(), "timeout");
        assert!(error.to_string().contains("300ms"), "{error}");
        assert_eq!((server.received().len(), told), (requests, expected));
    }
}

#[tokio::test]
async fn heartbeats_keep_a_slow_server_alive_but_not_one_that_never_answers() {
    let beats = |count| vec![b": waiting\n\n".to_vec(); count];
    let slow = |count, rest: String| {
        let packets = [beats(count), vec![rest.into_bytes()]].concat();
        Answer::Stream { packets, pause: Duration::from_millis(100), end: End::Open }
    };
    let said = [say("好"), stop(), DONE.into()].concat();
    let server = Server::start([slow(4, said), slow(100, String::new())]).await;
    let endpoint = server.endpoint().timeout(Duration::from_millis(300));
    assert_eq!(ask(endpoint.clone()).await.0.unwrap().message.text().as_deref(), Some("好"));
    let error = ask(endpoint).await.0.unwrap_err();
    assert!(error.to_string().contains("1.5s"), "{error}");
}

#[tokio::test]
async fn a_connection_left_open_does_not_hold_us() {
    for (last, used) in [
        (vec![stop(), usage(), DONE.into()], 7),
        (vec![stop(), usage()], 7),
        (vec![DONE.into()], 0),
        (vec![stop()], 0),
    ] {
        let events = [vec![say("好")], last].concat();
        let server = Server::start([stream(&events, End::Open)]).await;
        let begun = Instant::now();
        let (reply, _) = ask(server.endpoint()).await;
        let reply = reply.unwrap();
        assert_eq!((reply.message.text().as_deref(), reply.usage.input_tokens), (Some("好"), used));
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
        assert_eq!(server.received().len(), 1);
    }
}

#[tokio::test]
async fn a_server_that_says_stop_with_each_part_is_read_to_its_end() {
    let part = |text: &str| {
        let choice = json!({"delta": {"content": text}, "finish_reason": "stop"});
        let usage = json!({"prompt_tokens": 7, "completion_tokens": 2});
        format!("data: {}\n\n", json!({"choices": [choice], "usage": usage})).into_bytes()
    };
    let packets = || ["北京", "今天", "晴"].map(part).to_vec();
    // Longer than the wait for the end of a body that is complete.
    let pause = Duration::from_millis(150);
    let slow = |end| Answer::Stream { packets: packets(), pause, end };
    let server = Server::start([slow(End::Whole), slow(End::Open), slow(End::Broken), saying("好")]).await;
    let endpoint = server.endpoint().timeout(Duration::from_millis(400));
    for expected in ["北京今天晴", "北京今天晴", "好"] {
        assert_eq!(ask(endpoint.clone()).await.0.unwrap().message.text().as_deref(), Some(expected));
    }
    assert_eq!(server.received().len(), 4);
}

#[tokio::test]
async fn a_server_that_sends_nothing_but_empty_events_is_silent() {
    let packets = vec![b"data: {}\n\n".to_vec(); 100];
    let pause = Duration::from_millis(20);
    let server = Server::start([Answer::Stream { packets, pause, end: End::Open }]).await;
    let error = ask(server.endpoint().timeout(Duration::from_millis(100))).await.0.unwrap_err();
    assert!(error.to_string().contains("500ms"), "{error}");
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn a_break_after_the_last_word_breaks_nothing() {
    let server = Server::start([stream(&[say("好"), stop()], End::Broken)]).await;
    let (reply, told) = ask(server.endpoint()).await;
    assert_eq!(reply.unwrap().finish, Finish::Stop);
    assert_eq!(told, [text("好")]);
}

#[tokio::test]
async fn an_error_inside_a_stream_is_repeated_if_it_passes() {
    let error =
        |error: Value| stream(&[say("a"), format!("data: {}\n\n", json!({"error": error}))], End::Whole);
    let busy = error(json!({"message": "busy", "code": 503}));
    let too_long = error(json!({"message": "prompt is too long", "code": 400}));
    let server = Server::start([busy, too_long]).await;
    let (reply, told) = ask(server.endpoint()).await;
    assert_eq!(reply.unwrap_err().kind(), "context_exceeded");
    assert_eq!(told, [text("a"), Delta::Again, text("a")]);
}

#[tokio::test]
async fn what_does_not_stream_is_not_asked_to_and_what_does_is_read() {
    let server = Server::start([Answer::text("整"), saying("流"), Answer::text("整")]).await;
    let said = async |endpoint| ask(endpoint).await.0.unwrap().message.text().unwrap().into_owned();
    let off = || server.endpoint().streaming(Streaming::Off);
    assert_eq!(said(off()).await, "整");
    assert_eq!(said(off()).await, "流");
    assert_eq!(said(server.endpoint()).await, "整");
    let asked: Vec<_> = server.received().iter().map(|request| request.body.contains("stream")).collect();
    assert_eq!(asked, [false, false, true]);
}

#[tokio::test]
async fn what_a_server_refuses_of_streaming_is_not_asked_for_again() {
    let refused = |name: &str| {
        Answer::status(400, json!({"error": {"message": "Unknown parameter", "param": name}}).to_string())
    };
    let options = refused("stream_options");
    let server =
        Server::start([options, saying("一"), saying("二"), refused("stream"), Answer::text("三")]).await;
    let model = OpenAiModel::new(server.endpoint().retries(0)).unwrap();
    for expected in ["一", "二", "三"] {
        let reply = model.clone().chat(question(), Deltas::none()).await.unwrap();
        assert_eq!(reply.message.text().as_deref(), Some(expected));
    }
    let asked: Vec<_> = server
        .received()
        .iter()
        .map(|request| {
            let body: Value = serde_json::from_str(&request.body).unwrap();
            (body.get("stream").is_some(), body.get("stream_options").is_some())
        })
        .collect();
    assert_eq!(asked, [(true, true), (true, false), (true, false), (true, false), (false, false)]);
}

#[tokio::test]
async fn a_server_that_refuses_each_way_to_ask_is_asked_no_more_than_three_times() {
    let refused =
        |name: &str| Answer::status(400, json!({"error": {"message": "no", "param": name}}).to_string());
    let answers = [refused("stream_options"), refused("stream_options"), refused("stream"), saying("never")];
    let server = Server::start(answers).await;
    assert_eq!(ask(server.endpoint()).await.0.unwrap_err().kind(), "bad_request");
    assert_eq!(server.received().len(), 3);
}

#[tokio::test]
async fn a_compressed_stream_is_read() {
    // data: {"choices":[{"delta":{"content":"压缩"},"finish_reason":"stop"}]}, a blank line, data: [DONE], a blank line
    let body = include_bytes!("compressed.sse.gz");
    let server = Server::start([Answer::Http {
        status: 200,
        headers: "content-encoding: gzip\r\ncontent-type: text/event-stream\r\n",
        body: body.to_vec(),
    }])
    .await;
    let (reply, told) = ask(server.endpoint()).await;
    assert_eq!(reply.unwrap().message.text().as_deref(), Some("压缩"));
    assert_eq!(told, [text("压缩")]);
}

#[tokio::test]
async fn further_headers_query_and_fields_are_sent_and_kept_secret() {
    let body = json!({"error": {"message": "the token t0p-s3cret is unknown"}}).to_string();
    let server = Server::start([saying("好"), Answer::status(401, body)]).await;
    let endpoint = server
        .endpoint()
        .header("X-Token", "Token t0p-s3cret")
        .query("api-version", "2026 11")
        .body_field("top_p", json!(0.5));
    assert_eq!(
        ask(endpoint.clone()).await.0.unwrap().usage,
        Usage { input_tokens: 7, output_tokens: 2, cached_tokens: 0 }
    );
    let error = ask(endpoint).await.0.unwrap_err();
    let received = &server.received()[0];
    assert_eq!(received.header("x-token"), Some("Token t0p-s3cret"));
    assert!(received.head.starts_with("POST /v1/chat/completions?api-version=2026+11 "), "{}", received.head);
    assert!(received.body.ends_with(r#","top_p":0.5}"#), "{}", received.body);
    assert!(error.to_string().contains("the token *** is unknown"), "{error}");
    assert!(!format!("{error:?}").contains("s3cret"), "{error:?}");
}

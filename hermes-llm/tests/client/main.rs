//! The real client against a real local server: what is sent, what is read, what is repeated, what is said.
#![allow(clippy::unwrap_used)] // Helpers of tests may panic; clippy exempts only the tests themselves.

mod server;
mod streams;

use std::error::Error as _;
use std::time::{Duration, Instant};

use hermes_llm::{
    ChatError, ChatMessage, ChatModel, ChatReply, ChatRequest, Deltas, Endpoint, Finish, OpenAiModel, Retry,
    ToolCall, ToolSpec, Usage,
};
use serde_json::json;
use server::{Answer, Server};
use tokio::net::TcpSocket;
use tokio::sync::oneshot;

const KEY: &str = "sk-s3cret";

fn question() -> ChatRequest {
    ChatRequest::from_iter([&ChatMessage::user("北京今天天气怎么样？🌞")])
}

async fn ask(server: &Server) -> Result<ChatReply, ChatError> {
    server.model().chat(question(), Deltas::none()).await
}

async fn ask_with_key(server: &Server) -> Result<ChatReply, ChatError> {
    OpenAiModel::new(server.endpoint().api_key(KEY)).unwrap().chat(question(), Deltas::none()).await
}

#[tokio::test]
async fn a_reply_with_tool_calls_comes_through_intact() {
    let body = json!({
        "choices": [{"finish_reason": "tool_calls", "message": {
            "role": "assistant", "content": "看一下 🔍", "reasoning_content": "想",
            "tool_calls": [{"id": "call_1", "type": "function",
                "function": {"name": "get_weather", "arguments": "{\"city\":\"北京\"}"}}]}}],
        "usage": {"prompt_tokens": 20, "completion_tokens": 9},
    });
    let server = Server::start([Answer::ok(body.to_string())]).await;
    let reply = ask(&server).await.unwrap();
    assert_eq!(reply.message.text().as_deref(), Some("看一下 🔍"));
    assert_eq!(reply.message.tool_calls, [ToolCall::new("call_1", "get_weather", r#"{"city":"北京"}"#)]);
    assert_eq!(reply.message.extra["reasoning_content"], "想");
    assert_eq!(reply.finish, Finish::ToolCalls);
    assert_eq!(reply.usage, Usage { input_tokens: 20, output_tokens: 9, cached_tokens: 0 });
    assert_eq!(reply.time_to_first_token, None);
}

#[tokio::test]
async fn a_compressed_reply_is_read() {
    let body = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xabVJ\xce\xc8\xcfLN-V\xb2\x8a\xaeV\xcaM-.NLOU\xb2\xaaVJ\xce\xcf+I\xcd+Q\xb2Rz\xda\xd7\xfd|\xcfJ\xa5\xda\xda\xd8Z\x00^\xd5G%.\x00\x00\x00";
    let server = Server::start([Answer::Http {
        status: 200,
        headers: "content-encoding: gzip\r\n",
        body: body.to_vec(),
    }])
    .await;
    assert_eq!(ask(&server).await.unwrap().message.text().as_deref(), Some("压缩"));
}

#[tokio::test]
async fn a_reply_without_end_is_not_read_to_its_end() {
    let server = Server::start([Answer::ok(vec![b' '; 64 * 1024 * 1024 + 1])]).await;
    let error = ask(&server).await.unwrap_err();
    assert!(matches!(&error, ChatError::BadReply { message, .. } if message.contains("64 MiB")), "{error}");
}

#[tokio::test]
async fn dropping_the_future_hangs_up() {
    let (hung_up, seen) = oneshot::channel();
    let server = Server::start([Answer::AwaitHangUp(hung_up)]).await;
    let model = server.model();
    let asking = tokio::spawn(async move { model.chat(question(), Deltas::none()).await });
    server.until_received(1).await;
    asking.abort();
    seen.await.unwrap();
}

#[tokio::test]
async fn exactly_the_rendered_bytes_are_sent() {
    let server = Server::start([Answer::text("ok")]).await;
    let tools = vec![ToolSpec {
        name: "get_weather".into(),
        description: "天气".into(),
        parameters: json!({"type": "object"}),
    }];
    server.model().chat(ChatRequest { tools: tools.into(), ..question() }, Deltas::none()).await.unwrap();

    let request = &server.received()[0];
    assert_eq!(
        request.body,
        r#"{"model":"qwen","messages":[{"role":"user","content":"北京今天天气怎么样？🌞"}],"tools":[{"type":"function","function":{"name":"get_weather","description":"天气","parameters":{"type":"object"}}}],"temperature":0.0,"stream":true,"stream_options":{"include_usage":true}}"#
    );
    assert!(request.head.starts_with("POST /v1/chat/completions HTTP/1.1"), "{}", request.head);
    assert_eq!(request.header("content-type"), Some("application/json"));
}

#[tokio::test]
async fn a_key_is_sent_only_if_there_is_one() {
    let server = Server::start([Answer::text("ok"), Answer::text("ok")]).await;
    ask(&server).await.unwrap();
    ask_with_key(&server).await.unwrap();
    let received = server.received();
    assert_eq!(received[0].header("authorization"), None);
    assert_eq!(received[1].header("authorization"), Some("Bearer sk-s3cret"));
}

#[tokio::test]
async fn every_way_to_write_the_base_url_is_asked_where_it_should_be() {
    for (suffix, path) in [
        ("/", "/v1/chat/completions"),
        ("/v1/", "/v1/chat/completions"),
        ("/api/v3", "/api/v3/chat/completions"),
        ("/x/chat/completions?v=1", "/x/chat/completions?v=1"),
    ] {
        let server = Server::start([Answer::text("ok")]).await;
        let endpoint = Endpoint::new(format!("{}{suffix}", server.url), "qwen").unwrap();
        OpenAiModel::new(endpoint).unwrap().chat(question(), Deltas::none()).await.unwrap();
        let head = &server.received()[0].head;
        assert!(head.starts_with(&format!("POST {path} HTTP")), "{head}");
    }
}

#[tokio::test]
async fn silence_is_a_timeout_and_not_repeated() {
    for begun in [&b""[..], b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"choices\""] {
        let server = Server::start([Answer::Silence(begun)]).await;
        let endpoint = server.endpoint().timeout(Duration::from_millis(50));
        let error = OpenAiModel::new(endpoint).unwrap().chat(question(), Deltas::none()).await.unwrap_err();
        assert_eq!(error.kind(), "timeout");
        assert!(error.to_string().contains(&server.url) && error.endpoint_fault(), "{error}");
        assert_eq!(server.received().len(), 1);
    }
}

#[tokio::test]
async fn what_passes_by_itself_is_repeated() {
    for passing in [
        Answer::Drop,
        Answer::Raw(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"choices\""),
        Answer::status(500, "oops"),
        Answer::status(408, ""),
        Answer::status(409, ""),
        Answer::status(503, "<html>busy</html>"),
        Answer::Http { status: 429, headers: "retry-after: 0\r\n", body: Vec::new() },
    ] {
        let server = Server::start([passing, Answer::text("好")]).await;
        let reply = ask(&server).await.unwrap();
        assert_eq!(reply.message.text().as_deref(), Some("好"));
        let received = server.received();
        assert_eq!(received.len(), 2);
        assert_eq!(received[0].body, received[1].body);
    }
}

#[tokio::test]
async fn attempts_are_bounded() {
    let server =
        Server::start((0..9).map(|_| Answer::status(502, r#"{"error":{"message":"gateway"}}"#))).await;
    let error = ask(&server).await.unwrap_err();
    assert!(
        matches!(&error, ChatError::Server { status: 502, message } if message.contains("gateway")),
        "{error}"
    );
    assert_eq!(server.received().len(), 4);
}

#[tokio::test]
async fn the_server_says_how_long_to_wait() {
    let limited = || Answer::Http { status: 429, headers: "Retry-After: 1\r\n", body: Vec::new() };
    let server = Server::start([limited(), Answer::text("ok"), limited()]).await;
    let begun = Instant::now();
    ask(&server).await.unwrap();
    assert!(begun.elapsed() >= Duration::from_secs(1));

    let once = OpenAiModel::new(server.endpoint().retries(0)).unwrap();
    let error = once.chat(question(), Deltas::none()).await.unwrap_err();
    assert_eq!((error.kind(), error.retry()), ("rate_limited", Retry::After(Duration::from_secs(1))));
}

#[tokio::test]
async fn a_wrong_key_is_not_repeated_and_never_shown() {
    let body = json!({"error": {"message": format!("Incorrect API key provided: {KEY}."), "code": "invalid_api_key"}});
    let server = Server::start([Answer::status(401, body.to_string())]).await;
    let error = ask_with_key(&server).await.unwrap_err();
    let text = error.to_string();
    for said in ["401", "Incorrect API key provided: ***.", "LLM_API_KEY", &server.url] {
        assert!(text.contains(said), "{text}");
    }
    assert!(!format!("{text}{error:?}").contains("s3cret"), "{error:?}");
    assert!(error.endpoint_fault() && error.retry() == Retry::Never);
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn a_missing_key_is_asked_for() {
    let server = Server::start([Answer::status(401, "")]).await;
    let text = ask(&server).await.unwrap_err().to_string();
    assert!(text.contains("set LLM_API_KEY"), "{text}");
}

#[tokio::test]
async fn what_the_server_refuses_is_not_repeated() {
    for (status, kind, said) in [
        (400, "bad_request", "no such option"),
        (403, "unauthorized", "no such option"),
        (404, "bad_request", "`qwen`"),
        (422, "bad_request", "no such option"),
    ] {
        let server =
            Server::start([Answer::status(status, r#"{"error":{"message":"no such option"}}"#)]).await;
        let error = ask(&server).await.unwrap_err();
        assert_eq!(error.kind(), kind);
        assert!(
            error.to_string().contains(said) && error.to_string().contains(&status.to_string()),
            "{error}"
        );
        assert_eq!(server.received().len(), 1);
    }
}

#[tokio::test]
async fn a_context_that_is_too_long_wants_a_trim() {
    let body = json!({"error": {"message": "Too long.", "code": "context_length_exceeded"}});
    let server = Server::start([Answer::status(400, body.to_string())]).await;
    let error = ask(&server).await.unwrap_err();
    assert_eq!((error.kind(), error.retry()), ("context_exceeded", Retry::AfterTrim));
}

#[tokio::test]
async fn what_is_no_reply_is_said_with_what_came() {
    for (body, said) in [
        (&br#"{"error":{"message":"model crashed"}}"#[..], "model crashed"),
        (b"<html>Welcome</html>", "<html>Welcome</html>"),
        (b"{\"choices\":[{\"message\":{\"content\":\"\xf0\x9f\"}}]}", "not UTF-8"),
        (br#"{"choices":[]}"#, "no message"),
    ] {
        let server = Server::start([Answer::ok(body)]).await;
        let error = ask(&server).await.unwrap_err();
        assert_eq!(error.kind(), "bad_reply");
        assert!(error.to_string().contains(said) && error.to_string().contains(&server.url), "{error}");
        assert_eq!(server.received().len(), 1);
    }
}

#[tokio::test]
async fn an_error_inside_a_good_status_counts_as_what_it_says() {
    let busy = r#"{"error":{"message":"busy","code":503}}"#;
    let server = Server::start([Answer::ok(busy), Answer::text("ok")]).await;
    ask(&server).await.unwrap();
    assert_eq!(server.received().len(), 2);
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let other = Server::start([Answer::text("stolen")]).await;
    let headers: &'static str = format!("location: {}/v1\r\n", other.url).leak();
    let server = Server::start([Answer::Http { status: 307, headers, body: Vec::new() }]).await;
    let error = ask_with_key(&server).await.unwrap_err();
    assert!(error.to_string().contains(&other.url) && error.endpoint_fault(), "{error}");
    assert!(other.received().is_empty());
}

#[tokio::test]
async fn nobody_at_the_address_is_said_with_the_address() {
    // Bound, so that nobody else gets the port; not listening, so that connections are refused.
    let reserved = TcpSocket::new_v4().unwrap();
    reserved.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let url = format!("http://{}", reserved.local_addr().unwrap());
    let endpoint = Endpoint::new(&url, "qwen").unwrap().backoff(Duration::ZERO);
    let error = OpenAiModel::new(endpoint).unwrap().chat(question(), Deltas::none()).await.unwrap_err();
    assert!(error.endpoint_fault() && error.source().is_some());
    let text = error.to_string();
    assert!(text.contains(&url) && text.contains("Is the server running"), "{text}");
}

#[tokio::test]
async fn https_to_a_server_without_tls_is_unreachable() {
    let server = Server::start([]).await;
    let endpoint = Endpoint::new(server.url.replace("http", "https"), "qwen").unwrap().retries(0);
    // A machine without root certificates says so when the client is made.
    let Ok(model) = OpenAiModel::new(endpoint) else { return };
    assert_eq!(model.chat(question(), Deltas::none()).await.unwrap_err().kind(), "unreachable");
}

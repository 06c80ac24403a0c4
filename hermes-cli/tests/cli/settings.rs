//! What the settings in a file change in a run.

use std::time::Duration;

use serde_json::{Value, json};

use crate::server::{Answer, Server};
use crate::support::{Ended, Place};

#[test]
fn the_file_is_what_a_run_uses() {
    let (place, server) = (Place::new(), Server::start(Answer::text("好。")));
    let url = &server.url;
    place.write(
        "hermes.yaml",
        format!("model:\n  endpoint: {url}\n  model_name: qwen\n  api_key_env: TEAM_KEY\n  temperature: 0.5\n  max_tokens: 77\n  tool_choice: required\nsystem_prompt: 你是助手。\ntools: [read_file]\n"),
    );
    let mut command = place.run(["hi"]);
    command.env("TEAM_KEY", "sk-team").env("LLM_API_KEY", "sk-other");
    assert_eq!(Ended::of(&mut command).expect(0).stdout, "好。\n");
    let request = server.request();
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("Bearer sk-team"), "{head}");
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!(
        (&body["model"], &body["temperature"], &body["max_tokens"]),
        (&json!("qwen"), &json!(0.5), &json!(77))
    );
    assert_eq!(body["messages"][0]["content"], "你是助手。");
    assert_eq!((body["tools"].as_array().unwrap().len(), &body["tool_choice"]), (1, &json!("required")));
}

#[test]
fn what_is_sent_beside_comes_from_the_file_too() {
    let (place, server) = (Place::new(), Server::start(Answer::text("ok")));
    let url = &server.url;
    place.write(
        "hermes.yaml",
        format!(
            "model:\n  endpoint: {url}\n  model_name: qwen\n  headers: {{X-Team: s3cret}}\n  query: {{api-version: \"2024\"}}\n\
             \x20 body: {{top_k: 40, extra: {{a: [1]}}}}\n  stop: [完]\n  seed: 7\n  streaming: false\n"
        ),
    );
    Ended::of(&mut place.run(["--seed", "-8", "hi"])).expect(0);
    let request = server.request();
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    assert!(
        head.contains("/v1/chat/completions?api-version=2024 ") && head.contains("x-team: s3cret"),
        "{head}"
    );
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!((&body["top_k"], &body["extra"]), (&json!(40), &json!({"a": [1]})));
    assert_eq!((&body["stop"], &body["seed"]), (&json!(["完"]), &json!(-8)));
    assert_ne!(body["stream"], true);
    assert!(!place.lawful("hermes_trace.jsonl").contains("s3cret"));
}

#[test]
fn what_cannot_be_sent_beside_is_named_with_its_place() {
    let place = Place::new();
    for (setting, words) in [
        (
            "headers: {Host: s3cret}",
            "error: hermes.yaml:4: `model.headers`: the header `Host` cannot be sent: ",
        ),
        (
            "body: {temperature: 1}",
            "`model.body`: the body field `temperature` is written by the client, from the setting `temperature`: ",
        ),
        (
            "body: {messages: []}",
            "error: hermes.yaml:4: `model.body`: the body field `messages` is written by the client, from the conversation: leave it out here\n",
        ),
    ] {
        place.write(
            "hermes.yaml",
            format!("model:\n  endpoint: http://127.0.0.1:9\n  model_name: m\n  {setting}\n"),
        );
        for mut command in [place.run(["hi"]), place.hermes(["config"])] {
            let ended = Ended::of(&mut command).expect(2).says(words);
            assert!(!ended.stderr.contains("s3cret"), "{ended:#?}");
        }
    }
}

#[test]
fn a_variable_for_the_key_that_is_not_set_is_named() {
    let place = Place::new();
    place.write(
        "hermes.yaml",
        "model: {endpoint: \"http://127.0.0.1:9\", model_name: m, api_key_env: TEAM_KEY}\n",
    );
    let words = "the variable TEAM_KEY, which api_key_env names (hermes.yaml:1), is not set";
    Ended::of(&mut place.run(["hi"])).expect(2).says(words);
    let shown = Ended::of(&mut place.hermes(["config"])).expect(0).stdout;
    assert!(shown.contains("hermes.yaml:1; TEAM_KEY is not set\n"), "{shown}");
}

#[test]
fn a_silent_server_is_left_after_the_request_timeout() {
    let (place, server) = (Place::new(), Server::start(Answer::Silence));
    let started = std::time::Instant::now();
    let args = ["--request-timeout", "50ms", "--deadline", "20s", "--json", "hi"];
    let ended = Ended::of(&mut place.ask(&server, args));
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(report["outcome"], "failed", "{report}");
    assert!(started.elapsed() < Duration::from_secs(15));
}

#[test]
fn the_agent_cannot_read_the_keys_in_its_settings() {
    let place = Place::new();
    place.write("hermes.yaml", "model:\n  api_key: s3cret\n");
    let call = ["tools", "call", "read_file", r#"{"path": "hermes.yaml"}"#];
    let ended = Ended::of(&mut place.hermes(call)).expect(1);
    assert!(!ended.stdout.contains("s3cret"), "{ended:#?}");
}

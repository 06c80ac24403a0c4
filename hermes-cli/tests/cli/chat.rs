//! `hermes chat` as a script uses it: lines in, answers out.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command};

use expect_test::expect;
use serde_json::{Value, json};

use crate::server::{Answer, Server};
use crate::support::{Ended, Place, feed, signal, start};

/// `hermes chat` in this place.
fn chat<'a>(place: &Place, args: impl IntoIterator<Item = &'a str>) -> Command {
    place.hermes(["chat", "--root", "root"].into_iter().chain(args))
}

/// `hermes chat` against a server.
fn talking(place: &Place, server: &Server) -> Command {
    let mut command = chat(place, []);
    command.env("LLM_BASE_URL", &server.url).env("LLM_MODEL", "fake");
    command
}

fn all(command: &mut Command, lines: &str) -> Ended {
    let mut child = start(command);
    feed(&mut child, lines.as_bytes());
    Ended::of_child(child)
}

/// Says one line.
fn say(child: &mut Child, line: &str) {
    let stdin = child.stdin.as_mut().unwrap();
    stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
    stdin.flush().unwrap();
}

#[test]
fn the_demo_remembers_what_was_said() {
    let place = Place::new();
    let ended = all(&mut chat(&place, ["--model", "demo"]), "我叫安娜。\nWhat is my name?\n").expect(0);
    expect![[r#"
        (demo) The tool list_directory really ran; this answer is scripted, no model was asked.
        (demo) Before this you said: 我叫安娜。
    "#]]
    .assert_eq(&ended.stdout);
    assert_eq!(ended.stderr.lines().count(), 1, "{ended:#?}");
    assert!(!format!("{ended:?}").contains("\\u{1b}"), "{ended:?}");
    assert_eq!(place.lawful("hermes_trace.jsonl").matches("\"name\":\"task.finished\"").count(), 2);
}

#[test]
fn the_server_sees_what_was_said_before() {
    let place = Place::new();
    let server = Server::answering(["Hello Ana.", "安娜", "I do not know."].map(Answer::text));
    let lines = "My name is Ana.\nWhat is my name?\n/reset\nAnd now?\n";
    let ended = all(&mut talking(&place, &server), lines).expect(0);
    assert_eq!(ended.stdout, "Hello Ana.\n安娜\nI do not know.\n");
    let said = |body: Value| {
        let messages = body["messages"].as_array().unwrap().clone();
        let messages = messages.iter().filter(|message| message["role"] != "system");
        Value::from_iter(messages.map(|message| message["content"].clone()))
    };
    assert_eq!(said(server.body()), json!(["My name is Ana."]));
    assert_eq!(said(server.body()), json!(["My name is Ana.", "Hello Ana.", "What is my name?"]));
    assert_eq!(said(server.body()), json!(["And now?"]));
    place.lawful("hermes_trace.jsonl");
}

#[test]
fn ctrl_c_cancels_the_task_and_the_chat_goes_on() {
    let place = Place::new();
    let server = Server::answering([Answer::text("one"), Answer::Silence, Answer::text("three")]);
    let mut child = start(&mut talking(&place, &server));
    say(&mut child, "first");
    server.request();
    say(&mut child, "second");
    server.request();
    signal(&child, "INT");
    say(&mut child, "third");
    let third = server.body();
    let ended = Ended::of_child(child).expect(0).says("Task ended (cancelled)");
    assert_eq!(ended.stdout, "one\nthree\n");
    assert_eq!(third["messages"].as_array().unwrap().last().unwrap()["content"], "third");
    assert!(third.to_string().contains("first"), "{third}");
    let journal = place.lawful("hermes_trace.jsonl");
    assert_eq!(journal.matches("\"outcome\":\"cancelled\"").count(), 1);
}

#[test]
fn sigterm_cancels_the_task_and_ends_the_chat() {
    let (place, server) = (Place::new(), Server::start(Answer::Silence));
    let mut child = start(&mut talking(&place, &server));
    say(&mut child, "hi");
    server.request();
    signal(&child, "TERM");
    Ended::of_child(child).expect(130).says("Task ended (cancelled)");
    assert!(place.lawful("hermes_trace.jsonl").contains("\"outcome\":\"cancelled\""));
}

#[test]
fn an_interrupt_while_nothing_runs_ends_a_script() {
    let (place, server) = (Place::new(), Server::start(Answer::text("one")));
    let mut child = start(&mut talking(&place, &server));
    say(&mut child, "hi");
    let mut answer = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut answer).unwrap();
    assert_eq!(answer, "one\n");
    // The end of the input would end it too.
    let stdin = child.stdin.take();
    signal(&child, "INT");
    Ended::of_child(child).expect(130);
    drop(stdin);
    place.lawful("hermes_trace.jsonl");
}

#[test]
fn commands_tell_on_stderr() {
    let place = Place::new();
    let lines = "/stats\nhello\n/stats\n/tools\n/trace\n/help\n/stat\n/save\n/save chat.md\n/save chat.md\n/quit\nnever\n";
    let ended = all(&mut chat(&place, ["--model", "demo", "--journal", "t.jsonl"]), lines).expect(0);
    assert_eq!(
        ended.stdout,
        "(demo) The tool list_directory really ran; this answer is scripted, no model was asked.\n"
    );
    let ended = ended
        .says("Nothing was asked yet.\n")
        .says("Task completed in 2 iterations.\nLLM calls: 2 | ")
        .says("Whole chat: 1 message | LLM calls: 2 | ")
        .says("list_directory   read_only    Lists what is in a folder")
        .says(&format!(" hello\nJournal: {}\n", place.path("t.jsonl").display()))
        .says("/save FILE    writes what was said so far into a new file\n")
        .says("there is no command /stat; did you mean `/stats`? (/help tells them; a message may begin with //)\n")
        .says("write it as /save FILE\n")
        .says("Wrote chat.md.\n")
        .says("error: cannot write chat.md: File exists");
    let trace = ended.stderr.lines().find_map(|line| line.strip_prefix("  1. ")).unwrap();
    assert!(place.lawful("t.jsonl").contains(trace.split(' ').next().unwrap()));
    expect![[r#"
        ## You

        hello

        ## Hermes

        (demo) The tool list_directory really ran; this answer is scripted, no model was asked.

    "#]]
    .assert_eq(&std::fs::read_to_string(place.path("chat.md")).unwrap());
}

#[test]
fn another_system_prompt_begins_anew() {
    let place = Place::new();
    let server = Server::answering(["a", "b"].map(Answer::text));
    all(&mut talking(&place, &server), "one\n/system 你很简短。\ntwo\n").expect(0);
    assert!(server.body()["messages"][0]["content"].as_str().unwrap().starts_with("You are Hermes"));
    let second = server.body();
    assert_eq!(second["messages"].as_array().unwrap().len(), 2, "{second}");
    assert_eq!(
        (&second["messages"][0]["content"], &second["messages"][1]["content"]),
        (&json!("你很简短。"), &json!("two"))
    );
}

#[test]
fn a_backslash_joins_lines_and_what_is_no_text_is_left_out() {
    let place = Place::new();
    let server = Server::start(Answer::text("ok"));
    let mut child = start(&mut talking(&place, &server));
    feed(&mut child, b"a\\\nb\n\n  \ncaf\xe9\n//etc\r\nlast\\");
    let ended = Ended::of_child(child).expect(0).says("error: a line is no UTF-8 text: it is left out\n");
    assert_eq!(ended.stdout, "ok\nok\nok\n");
    let last = |body: Value| body["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    assert_eq!(
        [server.body(), server.body(), server.body()].map(last),
        ["a\nb", "/etc", "last"].map(|text| json!(text))
    );
}

#[test]
fn a_task_that_fails_is_told_and_the_chat_goes_on() {
    let place = Place::new();
    let server = Server::answering([Answer::status(400), Answer::text("fine")]);
    let ended = all(&mut talking(&place, &server), "one\ntwo\n").expect(0);
    assert_eq!(ended.says("Task ended (failed)").says("the server's own words").stdout, "fine\n");
}

#[test]
fn the_exit_code_of_a_script_tells_of_its_last_task() {
    let place = Place::new();
    let mut nobody = chat(&place, ["--model", "m", "--base-url", &Server::nowhere()]);
    assert_eq!(all(&mut nobody, "hi\n/stats\n/quit\n").expect(4).stdout, "");
    let server = Server::answering([Answer::text("fine"), Answer::status(400)]);
    assert_eq!(all(&mut talking(&place, &server), "one\ntwo\n").expect(1).stdout, "fine\n");
    let help = Ended::of(&mut place.hermes(["chat", "--help"])).expect(0).stdout;
    assert!(help.contains("otherwise the last task counts"), "{help}");
}

#[test]
fn verbose_shows_the_flow() {
    let place = Place::new();
    let ended = all(&mut chat(&place, ["--model", "demo", "-v"]), "hi\n").expect(0);
    assert!(!ended.says("[07] EVENT   orchestrator -> final").stderr.contains("started t1.0"));
    all(&mut chat(&place, ["--model", "demo", "-vv"]), "hi\n").expect(0).says("started t1.0");
}

#[test]
fn an_input_that_cannot_be_read_is_told_once_and_is_2() {
    let place = Place::new();
    let mut command = chat(&place, ["--model", "demo"]);
    let ended = Ended::of(command.stdin(File::open(place.path("root")).unwrap())).expect(2);
    assert_eq!(
        ended.stderr.matches("error: cannot read standard input: Is a directory").count(),
        1,
        "{ended:#?}"
    );
}

#[test]
fn nothing_is_asked_once_nobody_reads_the_answers() {
    let place = Place::new();
    let mut child = start(&mut chat(&place, ["--model", "demo"]));
    drop(child.stdout.take());
    feed(&mut child, "one\ntwo\nthree\n".as_bytes());
    let ended = Ended::of_child(child).expect(0);
    assert!(!ended.stderr.contains("error"), "{ended:#?}");
    assert_eq!(place.lawful("hermes_trace.jsonl").matches("\"name\":\"task.finished\"").count(), 1);
}

#[test]
fn what_cannot_be_begun_is_2() {
    let place = Place::new();
    Ended::of(&mut chat(&place, [])).expect(2).says("no model to ask");
    Ended::of(&mut chat(&place, ["--model", "demo", "--max-tokens", "x"]))
        .expect(2)
        .says("is not a whole number");
    assert!(!place.path("hermes_trace.jsonl").exists());
}

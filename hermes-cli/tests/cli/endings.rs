//! Every way a task can end, and its exit code.

use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};

use crate::server::{Answer, Server};
use crate::support::{Ended, Place, signal, start};

#[test]
fn an_answer_of_a_server_is_0_and_options_win_over_variables() {
    let (place, server) = (Place::new(), Server::start(Answer::text("晴，22°C。")));
    let mut command =
        place.run(["--model", "this-one", "--base-url", &server.url, "--system", "You are terse.", "hi"]);
    command
        .env("LLM_BASE_URL", "http://127.0.0.1:9")
        .env("LLM_MODEL", "not-this-one")
        .env("LLM_API_KEY", "sk-s3cret");
    let ended = Ended::of(&mut command).expect(0).says("[03] EVENT   orchestrator -> final: 晴，22°C。");
    assert_eq!(ended.stdout, "晴，22°C。\n");
    let request = server.request();
    assert!(request.contains("Bearer sk-s3cret") && request.contains("You are terse."), "{request}");
    assert!(request.contains("\"this-one\"") && request.contains("search_files"), "{request}");
    assert!(!place.lawful("hermes_trace.jsonl").contains("s3cret") && !ended.stderr.contains("s3cret"));
}

#[test]
fn a_refused_request_is_1() {
    let (place, server) = (Place::new(), Server::start(Answer::status(400)));
    let ended = Ended::of(&mut place.ask(&server, ["hi"])).expect(1).says("the server's own words");
    assert_eq!(ended.stdout, "");
    place.lawful("hermes_trace.jsonl");
}

#[test]
fn a_refusal_of_the_model_is_1_and_quiet_still_says_why() {
    let (place, server) = (Place::new(), Server::start(Answer::filtered()));
    let ended = Ended::of(&mut place.ask(&server, ["--quiet", "hi"])).expect(1);
    assert_eq!(
        ended.stderr,
        "Task ended (refused) after 1 iteration: the provider's filter stopped the answer\n"
    );
}

#[test]
fn a_server_that_fails_is_asked_again_and_then_1() {
    let (place, server) = (Place::new(), Server::start(Answer::status(500)));
    let ended = Ended::of(&mut place.ask(&server, ["hi"])).expect(1);
    let warnings: Vec<&str> = ended
        .stderr
        .lines()
        .filter_map(|line| line.strip_prefix("warning: asking the model again in "))
        .collect();
    assert_eq!(warnings.len(), 3, "{ended:#?}");
    for (warning, number) in warnings.iter().zip(2..) {
        let (_, words) = warning.split_once(" s ").unwrap();
        assert_eq!(words, format!("(try {number} of 4): HTTP 500, the server's own words"));
    }
}

#[test]
fn the_limit_of_turns_is_3() {
    let (place, server) = (Place::new(), Server::start(Answer::call("list_directory")));
    let ended = Ended::of(&mut place.ask(&server, ["--max-iterations", "1", "hi"])).expect(3);
    ended
        .says("Task ended (max_iterations)")
        .says("Gathered before it ended (--json shows it): list_directory");
    place.lawful("hermes_trace.jsonl");
}

#[test]
fn the_deadline_is_3() {
    let (place, server) = (Place::new(), Server::start(Answer::Silence));
    Ended::of(&mut place.ask(&server, ["--deadline", "200ms", "hi"])).expect(3).says("Task ended (deadline)");
    place.lawful("hermes_trace.jsonl");
}

#[test]
fn a_server_that_does_not_accept_us_is_4() {
    let (place, server) = (Place::new(), Server::start(Answer::status(401)));
    Ended::of(&mut place.ask(&server, ["hi"])).expect(4).says("LLM_API_KEY");
    place.lawful("hermes_trace.jsonl");
}

#[test]
fn an_address_where_nobody_listens_is_4() {
    let place = Place::new();
    let ended = Ended::of(&mut place.run(["--model", "m", "--base-url", &Server::nowhere(), "--json", "hi"]))
        .expect(4);
    let report: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((&report["outcome"], &report["failure"]["kind"]), (&"failed".into(), &"unreachable".into()));
    let ended = ended.says("cannot reach the model server at http://127.0.0.1:");
    let warnings = ended.stderr.lines().filter(|line| line.starts_with("warning: "));
    for warning in warnings {
        assert!(warning.ends_with(" of 4): connection refused"), "{warning}");
    }
    ended.says(" (try 4 of 4): connection refused\n");
}

/// Starts a task whose model never answers, and waits until it has been asked.
fn hanging(place: &Place, server: &Server) -> Child {
    let child = start(&mut place.ask(server, ["hi"]));
    server.request();
    child
}

#[test]
fn ctrl_c_and_sigterm_cancel_lawfully_and_are_130() {
    for name in ["INT", "TERM"] {
        let (place, server) = (Place::new(), Server::start(Answer::Silence));
        let child = hanging(&place, &server);
        signal(&child, name);
        let ended = Ended::of_child(child).expect(130).says("Task ended (cancelled)");
        assert_eq!(ended.stdout, "");
        assert!(place.lawful("hermes_trace.jsonl").contains("\"outcome\":\"cancelled\""));
    }
}

/// One end of a socket that takes no more bytes, as long as the other one lives.
fn full() -> (UnixStream, UnixStream) {
    let (mut full, other) = UnixStream::pair().unwrap();
    full.set_nonblocking(true).unwrap();
    while full.write(&[b'x'; 1024]).is_ok() {}
    full.set_nonblocking(false).unwrap();
    (full, other)
}

#[test]
fn a_stderr_that_takes_no_bytes_holds_up_neither_the_task_nor_a_signal() {
    for times in [1, 2] {
        let (place, server) = (Place::new(), Server::start(Answer::Silence));
        let (stderr, _unread) = full();
        let mut command = place.ask(&server, ["--verbose", "hi"]);
        let child = command.stdout(Stdio::piped()).stderr(OwnedFd::from(stderr)).spawn().unwrap();
        server.request();
        for _ in 0..times {
            signal(&child, "INT");
        }
        Ended::of_child(child).expect(130);
        if times == 1 {
            assert!(place.lawful("hermes_trace.jsonl").contains("\"outcome\":\"cancelled\""));
        }
    }
    let (place, (stderr, _unread)) = (Place::new(), full());
    let mut command = place.run(["--model", "demo", "hi"]);
    let child = command.stdout(Stdio::piped()).stderr(OwnedFd::from(stderr)).spawn().unwrap();
    assert!(Ended::of_child(child).expect(0).stdout.starts_with("(demo) "));
}

#[test]
fn what_steers_a_terminal_is_escaped_in_json_and_left_out_of_the_flow() {
    let answer = "a\u{9b}31m\x7f\u{202e}b";
    let (place, server) = (Place::new(), Server::start(Answer::text(answer)));
    let ended = Ended::of(&mut place.ask(&server, ["--json", "hi"])).expect(0);
    assert!(ended.stdout.contains(r"a\u009b31m\u007f\u202eb") && ended.stdout.is_ascii(), "{ended:#?}");
    let report: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(report["answer"], answer);
    let steers = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
    assert!(!ended.stderr.contains(steers), "{ended:#?}");
}

#[test]
fn an_impatient_ctrl_c_is_130_too() {
    let (place, server) = (Place::new(), Server::start(Answer::Silence));
    let child = hanging(&place, &server);
    signal(&child, "INT");
    signal(&child, "INT");
    Ended::of_child(child).expect(130);
    Ended::of(&mut place.hermes(["trace", "verify", "--crashed", "hermes_trace.jsonl"])).expect(0);
}

#[test]
fn two_processes_on_one_journal_are_both_lawful() {
    let (place, server) = (Place::new(), Server::start(Answer::Silence));
    let first = hanging(&place, &server);
    let second = Ended::of(&mut place.run(["--model", "demo", "hi"])).expect(0);
    second.says("hermes_trace-2.jsonl (another process is writing hermes_trace.jsonl)");
    place.lawful("hermes_trace-2.jsonl");
    let open = Ended::of(&mut place.hermes(["trace", "verify", "hermes_trace.jsonl"])).expect(1);
    assert!(open.stdout.contains("hermes_trace.jsonl:1: law 6 broken (seq 1): "), "{open:#?}");
    Ended::of(&mut place.hermes(["trace", "verify", "--crashed", "hermes_trace.jsonl"])).expect(0);
    signal(&first, "INT");
    Ended::of_child(first).expect(130);
    place.lawful("hermes_trace.jsonl");
}

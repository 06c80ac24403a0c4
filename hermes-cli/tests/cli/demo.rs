//! The demo model: what a first run looks like.

use expect_test::expect;
use serde_json::Value;

use crate::support::{Ended, Place, start};

/// The text with what differs from run to run taken out.
fn normal(text: &str, place: &Place) -> String {
    let line = |line: &str| match line.split_once("Tokens in: ") {
        Some((calls, _)) => format!("{calls}Tokens in: … | Tokens out: …\n"),
        None if line.starts_with("Latency: ") && line.contains(" total | slowest: ") => {
            "Latency: …\n".to_owned()
        }
        None => format!("{line}\n"),
    };
    let folder = place.path("");
    text.replace(folder.to_str().unwrap(), "<folder>/").lines().map(line).collect()
}

#[test]
fn the_answer_goes_to_stdout_and_the_numbered_flow_to_stderr() {
    let place = Place::new();
    let ended = Ended::of(&mut place.run(["--model", "demo", "今天有什么？"])).expect(0);
    expect![[r#"
        (demo) The tool list_directory really ran; this answer is scripted, no model was asked.
    "#]]
    .assert_eq(&ended.stdout);
    expect![[r#"
        demo model: a scripted conversation, no model is asked; set LLM_BASE_URL and LLM_MODEL to ask one
        [00] COMMAND user -> orchestrator: 今天有什么？
        [01] COMMAND orchestrator -> llm: 今天有什么？
        [02] EVENT   llm -> orchestrator: tool_calls[list_directory()]
        [03] COMMAND orchestrator -> tool.list_directory: {}
        [04] EVENT   tool.list_directory -> orchestrator: "notes.txt"
        [05] COMMAND orchestrator -> llm: tool results: list_directory
        [06] EVENT   llm -> orchestrator: (demo) The tool list_directory really ran; this answer is scripted, no model was asked.
        [07] EVENT   orchestrator -> final: (demo) The tool list_directory really ran; this answer is scripted, no model was asked.
        Task completed in 2 iterations.
        LLM calls: 2 | Tokens in: … | Tokens out: …
        Tool calls: 1 | succeeded: 1 | failed: 0
        Latency: …
        Journal: <folder>/hermes_trace.jsonl (new)
    "#]]
    .assert_eq(&normal(&ended.stderr, &place));
    place.lawful("hermes_trace.jsonl");
}

#[test]
fn a_second_run_continues_the_journal_without_a_word() {
    let place = Place::new();
    let run = || Ended::of(place.run(["--model", "demo", "hi"]).env("HERMES_JOURNAL", "t.jsonl")).expect(0);
    run().says("t.jsonl (new)");
    assert!(!run().stderr.contains("Journal"));
    assert_eq!(place.lawful("t.jsonl").matches("\"name\":\"task.finished\"").count(), 2);
}

#[test]
fn verbose_shows_notes_and_quiet_nothing_but_what_is_no_model() {
    let place = Place::new();
    let run = |option| {
        Ended::of(&mut place.run(["--model", "demo", "--journal", "memory", option, "hi"])).expect(0)
    };
    let started = "\n     EVENT   tool.list_directory -> tool.list_directory: started t1.0\n";
    run("--verbose").says(started);
    let quiet = run("--quiet");
    assert!(quiet.stderr.starts_with("demo model: ") && quiet.stderr.lines().count() == 1, "{quiet:#?}");
    assert!(quiet.stdout.starts_with("(demo) "), "{}", quiet.stdout);
    assert!(!place.path("hermes_trace.jsonl").exists());
}

#[test]
fn other_diagnostics_leave_the_flow_alone() {
    let place = Place::new();
    let mut command = place.run(["--model", "demo", "--journal", "memory", "hi"]);
    Ended::of(command.env("RUST_LOG", "off,hermes::flow=off")).expect(0).says("[07] EVENT ");
}

#[test]
fn json_is_the_whole_outcome() {
    let place = Place::new();
    let ended =
        Ended::of(&mut place.run(["--model", "demo", "--journal", "t.jsonl", "--json", "hi"])).expect(0);
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(report["outcome"], "completed");
    assert!(report["answer"].as_str().unwrap().starts_with("(demo) "));
    assert_eq!((&report["truncated"], &report["failure"]), (&Value::Bool(false), &Value::Null));
    assert_eq!(report["gathered"][0]["shown"], "OK: notes.txt");
    assert_eq!(report["stats"]["tool_calls"], 1);
    assert_eq!(report["journal"], place.path("t.jsonl").to_str().unwrap());
    let trace = report["trace_id"].as_str().unwrap();
    assert!(place.lawful("t.jsonl").contains(trace));
    ended.says("[07] EVENT ");
}

#[test]
fn an_agent_does_not_see_its_own_journal() {
    let place = Place::new();
    for journal in ["hermes_trace.jsonl", "hermes_trace.jsonl", "root/t.jsonl", "root/t.jsonl"] {
        let run = ["run", "--model", "demo", "--json", "--journal", journal, "hi"];
        let ended = Ended::of(&mut place.hermes(run)).expect(0);
        let report: Value = serde_json::from_str(&ended.stdout).unwrap();
        let folder = report["gathered"][0]["shown"].as_str().unwrap();
        assert!(folder.ends_with("root/") && (journal.contains('/') || folder == "OK: root/"), "{folder}");
        let below = Ended::of(&mut place.run(run[1..].iter().copied())).expect(0);
        below.says("[04] EVENT   tool.list_directory -> orchestrator: \"notes.txt\"");
    }
}

#[test]
fn a_reader_who_has_gone_away_is_no_error() {
    let place = Place::new();
    let mut child = start(&mut place.run(["--model", "demo", "-"]));
    drop(child.stdout.take());
    crate::support::feed(&mut child, b"hi");
    Ended::of_child(child).expect(0);
    place.lawful("hermes_trace.jsonl");
}

#[test]
fn an_answer_that_cannot_be_written_is_an_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    let Ok(full) = full else { return };
    let place = Place::new();
    let mut command = place.run(["--model", "demo", "hi"]);
    let output = command.stdout(full).stderr(std::process::Stdio::piped()).spawn().unwrap();
    Ended::of_child(output).expect(1).says("cannot write the outcome to stdout");
}

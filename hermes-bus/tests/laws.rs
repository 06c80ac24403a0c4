//! The laws 1 to 5 on the sample journals, and on small changes to a lawful one.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::{Path, PathBuf};

use expect_test::{Expect, expect};
use hermes_bus::laws;

fn sample(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn samples(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples").join(folder);
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn verdict(text: &str) -> String {
    laws::check(text.lines()).iter().map(|broken| format!("{broken}\n")).collect()
}

#[test]
fn lawful_samples_break_nothing() {
    let mut count = 0;
    for path in samples("lawful") {
        let mut text = std::fs::read_to_string(&path).unwrap();
        match path.file_name().unwrap().to_str().unwrap() {
            "rotation.1.jsonl" => text += &sample("lawful/rotation.2.jsonl"),
            "rotation.2.jsonl" => continue,
            _ => {}
        }
        assert_eq!(verdict(&text), "", "{}", path.display());
        count += 1;
    }
    assert_eq!(count, 19);
}

/// The verdict on every unlawful sample; an empty one breaks only laws 6 to 10, which are not for the bus to know.
#[test]
fn unlawful_samples() {
    let verdicts: String = samples("unlawful")
        .iter()
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap();
            let text = std::fs::read_to_string(path).unwrap();
            let broken = verdict(&text);
            format!("{name}: {}\n", if broken.is_empty() { "only 6 to 10" } else { broken.trim_end() })
        })
        .collect();
    expect![[r#"
        any_event_ends_a_call: only 6 to 10
        append_by_reference_skips_the_result: only 6 to 10
        cancel_without_ack: only 6 to 10
        chat_without_append: only 6 to 10
        destructive_call_without_approval: only 6 to 10
        effect_after_finish: only 6 to 10
        inside_without_parent: law 4 broken at line 2 (seq 2): orchestrator is inside, so its llm.chat must have a parent
        mended_by_newline: law 1 broken at line 2: no JSON object: EOF while parsing a string at line 1 column 21: "{\"v\":1,\"id\":\"e2\",\"tra"
        no_v: law 1 broken at line 1 (seq 1): missing v
        law 1 broken at line 2 (seq 2): missing v
        one_approval_two_calls: only 6 to 10
        one_call_run_thrice: only 6 to 10
        only_a_late_end: law 5 broken at line 3 (seq 3): late, but nothing ended the ask before it
        open_when_finished: only 6 to 10
        other_tool_than_asked: law 5 broken at line 5 (seq 5): call_id "zzz" answers "c1"
        resume_new_command: only 6 to 10
        string_payload: law 1 broken at line 3 (seq 3): payload is not an object, or id not a string
        user_between_call_result: only 6 to 10
    "#]].assert_eq(&verdicts);
}

/// Changes the weather sample and says what that breaks.
fn changed(from: &str, to: &str, expected: Expect) {
    let text = sample("lawful/weather.jsonl");
    assert!(text.contains(from), "{from}");
    expected.assert_eq(&verdict(&text.replacen(from, to, 1)));
}

#[test]
fn law_1_fields_and_their_shape() {
    changed(
        r#""type":"command""#,
        r#""type":"order""#,
        expect![[r#"
        law 1 broken at line 1 (seq 1): type `order` is neither command, event nor query
    "#]],
    );
    changed(
        r#""name":"llm.chat""#,
        r#""name":"chat""#,
        expect![[r#"
        law 1 broken at line 2 (seq 2): name `chat` is not dotted lower case
    "#]],
    );
    changed(
        r#""name":"llm.replied""#,
        r#""name":"llm.delta""#,
        expect![[r#"
        law 1 broken at line 3 (seq 3): interim llm.delta does not belong in a journal
    "#]],
    );
    changed(
        r#""sender":"llm""#,
        r#""sender":"l l m""#,
        expect![[r#"
        law 1 broken at line 3 (seq 3): sender `l l m` is no address
    "#]],
    );
    changed(
        r#"Z","payload""#,
        r#"+08:00","payload""#,
        expect![[r#"
        law 1 broken at line 1 (seq 1): ts `2026-11-30T10:00:00.123+08:00` is not UTC
    "#]],
    );
    changed(
        r#""ts":"2026-"#,
        r#""ts":"26-"#,
        expect![[r#"
        law 1 broken at line 1 (seq 1): ts `26-11-30T10:00:00.123Z` is not RFC 3339
    "#]],
    );
    changed(
        r#""trace_id":"a"#,
        r#""trace_id":"A"#,
        expect![[r#"
        law 1 broken at line 1 (seq 1): trace_id `A3f90000000000000000000000000001` is not 32 hex digits
        law 4 broken at line 2 (seq 2): parent e1 belongs to another trace
        law 4 broken at line 8 (seq 8): parent e1 belongs to another trace
        law 5 broken at line 8 (seq 8): in_reply_to e1 is no earlier command or query of this trace
    "#]],
    );
}

#[test]
fn laws_2_and_3_numbers_and_ids() {
    changed(
        r#""seq":3,"#,
        r#""seq":2,"#,
        expect![[r#"
        law 2 broken at line 3 (seq 2): seq does not increase (previous 2)
        law 2 broken at line 3 (seq 2): seq does not increase within the trace
    "#]],
    );
    changed(
        r#""seq":3,"#,
        r#""seq":"3","#,
        expect![[r#"
        law 2 broken at line 3: seq is not a positive integer
    "#]],
    );
    changed(
        r#""seq":3,"#,
        r#""seq":30,"#,
        expect![[r#"
        law 2 broken at line 4 (seq 4): seq does not increase (previous 30)
        law 2 broken at line 4 (seq 4): seq does not increase within the trace
    "#]],
    );
    changed(
        r#""id":"e3","#,
        r#""id":"e1","#,
        expect![[r#"
        law 3 broken at line 3 (seq 3): id e1 is used twice
        law 4 broken at line 4 (seq 4): parent e3 is not earlier in the journal
        law 5 broken at line 8 (seq 8): in_reply_to e1 is no earlier command or query of this trace
    "#]],
    );
}

#[test]
fn law_4_causes() {
    changed(
        r#""parent_id":"e1""#,
        r#""parent_id":null"#,
        expect![[r#"
        law 4 broken at line 2 (seq 2): orchestrator is inside, so its llm.chat must have a parent
    "#]],
    );
    changed(
        r#""parent_id":"e1""#,
        r#""parent_id":"e9""#,
        expect![[r#"
        law 4 broken at line 2 (seq 2): parent e9 is not earlier in the journal
    "#]],
    );
    changed(
        r#""parent_id":"e2""#,
        r#""parent_id":null"#,
        expect![[r#"
        law 4 broken at line 3 (seq 3): event llm.replied has no parent
    "#]],
    );
}

#[test]
fn law_5_ends() {
    changed(
        r#""in_reply_to":"e4""#,
        r#""in_reply_to":"e2""#,
        expect![[r#"
        law 5 broken at line 5 (seq 5): second terminal event for llm.chat (seq 2)
    "#]],
    );
    changed(
        r#""in_reply_to":"e4""#,
        r#""in_reply_to":"e3""#,
        expect![[r#"
        law 5 broken at line 5 (seq 5): in_reply_to e3 is no earlier command or query of this trace
    "#]],
    );
    changed(
        r#""in_reply_to":"e4""#,
        r#""in_reply_to":"e4","late":true"#,
        expect![[r#"
        law 5 broken at line 5 (seq 5): late, but nothing ended the ask before it
    "#]],
    );
}

#[test]
fn more_laws_can_be_checked_over_the_same_entries() {
    let mut laws = laws::Laws::default();
    for line in sample("lawful/weather.jsonl").lines() {
        let entry = laws.line(line.as_bytes()).unwrap();
        if entry.payload.get("digest").is_none() && entry.name == "llm.chat" {
            laws.report(9, &entry, "no digest");
        }
    }
    assert_eq!(laws.into_broken(), []);
}

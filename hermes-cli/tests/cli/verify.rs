//! `hermes trace verify`: on the sample journals, and on one of our own that is then harmed.

use std::fs;
use std::path::PathBuf;

use crate::support::{Ended, Place, sample};

fn verify(args: &[&str]) -> Ended {
    Ended::of(&mut Place::new().hermes(["trace", "verify"].into_iter().chain(args.iter().copied())))
}

fn samples(folder: &str) -> Vec<PathBuf> {
    let mut paths: Vec<_> =
        fs::read_dir(sample(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() > 15, "{paths:?}");
    paths
}

#[test]
fn lawful_samples_hold() {
    for path in samples("lawful") {
        let path = path.to_str().unwrap();
        if !path.contains("rotation.") {
            let ended = verify(&["--no-digests", path]).expect(0);
            assert!(ended.stdout.contains("lines; laws 1 to 8 and 10 hold\n"), "{ended:#?}");
        }
    }
}

#[test]
fn unlawful_samples_do_not_and_say_where() {
    for path in samples("unlawful") {
        let path = path.to_str().unwrap();
        let ended = verify(&["--no-digests", path]).expect(1);
        let last = ended.stdout.lines().last().unwrap();
        assert!(
            ended.stdout.starts_with(&format!("{path}:")) && last.contains("checked, broken"),
            "{ended:#?}"
        );
    }
    let ended =
        verify(&["--no-digests", sample("unlawful/inside_without_parent.jsonl").to_str().unwrap()]).expect(1);
    assert!(ended.stdout.contains(".jsonl:2: law 4 broken (seq 2): orchestrator is inside"), "{ended:#?}");
}

#[test]
fn a_rotated_family_is_one_journal() {
    let place = Place::new();
    let (old, new) = (place.path("x.r1.jsonl"), place.path("x.jsonl"));
    fs::copy(sample("lawful/rotation.1.jsonl"), &old).unwrap();
    fs::copy(sample("lawful/rotation.2.jsonl"), &new).unwrap();
    let (old, new) = (old.to_str().unwrap(), new.to_str().unwrap());
    verify(&["--no-digests", old, new]).expect(0);
    verify(&["--no-digests", new]).expect(0);
    let turned = verify(&["--no-digests", new, old]).expect(1);
    assert!(turned.stdout.contains("x.r1.jsonl:1: law 2 broken"), "{turned:#?}");
}

/// A place with a journal of the demo in `t.jsonl`.
fn with_journal() -> (Place, String) {
    let place = Place::new();
    Ended::of(&mut place.run(["--model", "demo", "--journal", "t.jsonl", "hi"])).expect(0);
    let text = place.lawful("t.jsonl");
    (place, text)
}

fn verify_in(place: &Place, args: &[&str]) -> Ended {
    Ended::of(&mut place.hermes(["trace", "verify"].into_iter().chain(args.iter().copied())))
}

#[test]
fn a_changed_word_breaks_the_digest() {
    let (place, text) = with_journal();
    let changed = text.replace("OK: notes.txt", "OK: nothing");
    assert_ne!(changed, text);
    fs::write(place.path("t.jsonl"), changed).unwrap();
    let ended = verify_in(&place, &["t.jsonl"]).expect(1);
    assert!(ended.stdout.contains("law 9 broken"), "{ended:#?}");
    verify_in(&place, &["--no-digests", "t.jsonl"]).expect(0);
}

#[test]
fn chats_whose_digest_cannot_be_checked_do_not_pass() {
    let place = Place::new();
    fs::copy(sample("lawful/weather.jsonl"), place.path("t.jsonl")).unwrap();
    let ended = verify_in(&place, &["t.jsonl"]).expect(1);
    assert!(ended.stdout.contains("law 9 broken"), "{ended:#?}");
}

#[test]
fn a_torn_line_is_allowed_only_after_a_crash() {
    let (place, text) = with_journal();
    fs::write(place.path("t.jsonl"), &text[..text.len() - 20]).unwrap();
    let ended = verify_in(&place, &["t.jsonl"]).expect(1);
    assert!(ended.stdout.contains("law 1 broken") && ended.stdout.contains("torn line"), "{ended:#?}");
    assert!(ended.stdout.contains("law 6 broken"), "{ended:#?}");
    verify_in(&place, &["--crashed", "t.jsonl"]).expect(0);
}

#[test]
fn missing_blobs_are_2_and_said_clearly() {
    let (place, _) = with_journal();
    fs::rename(place.path("t.jsonl.blobs"), place.path("elsewhere")).unwrap();
    verify_in(&place, &["t.jsonl"]).expect(2).says("t.jsonl.blobs is not there").says("--no-digests");
    verify_in(&place, &["--no-digests", "t.jsonl"]).expect(0);
}

#[test]
fn what_cannot_be_read_is_2() {
    let place = Place::new();
    verify_in(&place, &["nothing.jsonl"]).expect(2).says("cannot read nothing.jsonl");
    verify_in(&place, &["root"]).expect(2).says("no regular file");
    verify_in(&place, &["/dev/null"]).expect(2).says("no regular file");
    verify_in(&place, &[]).expect(2).says("<FILE>");
}

#[test]
fn a_file_of_another_kind_is_2_and_said_in_one_line() {
    let place = Place::new();
    for (name, text) in
        [("a.txt", "hello\nworld\n"), ("b.txt", "no line feed"), ("c.json", "{\n  \"a\": 1\n}\n")]
    {
        fs::write(place.path(name), text).unwrap();
        let ended = verify_in(&place, &[name]).expect(2);
        let words = format!("error: {name} is no Hermes journal: no line of it is an envelope\n");
        assert_eq!((&*ended.stdout, ended.stderr), ("", words));
    }
    // A writer that was killed at its first line.
    fs::write(place.path("t.jsonl"), "{\"v\":1,\"id\"").unwrap();
    verify_in(&place, &["--crashed", "t.jsonl"]).expect(0);
}

#[test]
fn names_of_files_steer_no_terminal() {
    let place = Place::new();
    let name = "\u{9b}2J\u{202e}.jsonl";
    fs::write(place.path(name), "").unwrap();
    assert_eq!(verify_in(&place, &[name]).expect(0).stdout, " 2J.jsonl: 0 lines; nothing to check\n");
    let run = Ended::of(&mut place.run(["--model", "demo", "--journal", "\u{9b}\u{202e}t.jsonl", "hi"]));
    assert!(run.expect(0).stderr.ends_with("/ t.jsonl (new)\n"));
}

#[test]
fn an_empty_journal_has_nothing_to_check() {
    let place = Place::new();
    fs::write(place.path("t.jsonl"), "").unwrap();
    assert_eq!(verify_in(&place, &["t.jsonl"]).expect(0).stdout, "t.jsonl: 0 lines; nothing to check\n");
}

//! What comes in: tasks of all scripts, and what cannot be used.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::support::{Ended, Place, feed, start};

#[test]
fn a_task_from_standard_input_may_be_of_any_script() {
    let place = Place::new();
    let mut child = start(&mut place.run(["--model", "demo", "-"]));
    feed(&mut child, "总结 📁👩‍💻 שלום مرحبا\n".as_bytes());
    let ended = Ended::of_child(child).expect(0);
    // Whether the joiner within an emoji is shown is for the flow to say.
    let flow = ended.says("[00] COMMAND user -> orchestrator: 总结 📁👩").stderr;
    assert!(flow.contains("💻 שלום مرحبا\n"), "{flow}");
    assert!(place.lawful("hermes_trace.jsonl").contains("\"task\":\"总结 📁👩‍💻 שלום مرحبا\""));
}

#[test]
fn what_cannot_be_used_is_2_and_leaves_no_journal() {
    let place = Place::new();
    let long = "9".repeat(40) + "s";
    for (args, words) in [
        (vec!["hi"], "LLM_BASE_URL"),
        (vec!["hi"], "--model demo"),
        (
            vec!["--model", "m", "hi"],
            "set LLM_BASE_URL (for example http://localhost:11434/v1) or give --base-url. ",
        ),
        (vec!["--base-url", "http://h", "hi"], "set LLM_MODEL"),
        (vec!["--model", "m", "--base-url", "localhost:1", "hi"], "must begin with http:// or https://"),
        (vec!["--model", "m", "--base-url", "http://ann:s3cret@h", "hi"], "LLM_API_KEY"),
        (vec!["--model", "demo", ""], "the task is empty"),
        (vec!["--model", "demo", " \n　"], "the task is empty"),
        (vec!["--model", "demo", "-"], "the task is empty"),
        (vec!["--model", "demo", "--journal", "no/folder/t.jsonl", "hi"], "make it, or name another place"),
        (vec!["--model", "demo", "--journal", "root", "hi"], "it is a folder: name a file in it"),
        (vec!["--model", "demo", "--journal", "root/notes.txt", "hi"], "is no journal"),
        (vec!["--model", "demo", "--deadline", "5", "hi"], "such as 500ms, 30s, 2m or 1h"),
        (vec!["--model", "demo", "--deadline", &long, "hi"], "below ten years"),
        (vec!["--model", "demo", "--max-iterations", "0", "hi"], "0 is not a whole number from 1 to"),
        (vec!["--model", "demo", "--quiet", "--verbose", "hi"], "cannot be used with"),
        (
            vec!["--model", "demo", "two", "--quiet", "words"],
            "error: the task is several words: put the task in quotes, as in `hermes run \"two words\"`\n",
        ),
        (vec![], "<TASK>"),
    ] {
        let ended = Ended::of(&mut place.run(args)).expect(2).says(words);
        assert!(ended.stdout.is_empty() && !ended.stderr.contains("s3cret"), "{ended:#?}");
    }
    assert!(!place.path("hermes_trace.jsonl").exists());
    assert_eq!(std::fs::read_to_string(place.path("root/notes.txt")).unwrap(), "北京 notes\n");
}

#[test]
fn a_root_that_is_missing_or_a_file_is_2() {
    let place = Place::new();
    let run = |args: &[&str]| {
        place.hermes(["run", "--model", "demo", "hi"].into_iter().chain(args.iter().copied()))
    };
    let words = "error: --root nowhere: there is no such folder; name an existing one\n";
    Ended::of(&mut run(&["--root", "nowhere"])).expect(2).says(words);
    let words = "error: --root root/notes.txt: this is no folder; name one\n";
    Ended::of(&mut run(&["--root", "root/notes.txt"])).expect(2).says(words);
    let words = "error: HERMES_ROOT nowhere: there is no such folder";
    Ended::of(run(&[]).env("HERMES_ROOT", "nowhere")).expect(2).says(words);
    place.write("hermes.yaml", "root: nowhere\n");
    let words = "error: hermes.yaml:1: root: nowhere: there is no such folder; name an existing one\n";
    Ended::of(&mut run(&[])).expect(2).says(words);
}

#[test]
fn an_error_says_each_thing_once() {
    let place = Place::new();
    let ended = Ended::of(&mut place.run(["--model", "demo", "--journal", "root", "hi"])).expect(2);
    assert_eq!(ended.stderr.matches("it is a folder: name a file in it").count(), 1, "{ended:#?}");
    let ended = Ended::of(&mut place.run(["--model", "m", "--base-url", "x", "hi"])).expect(2);
    assert_eq!(ended.stderr.matches("usable").count(), 1, "{ended:#?}");
}

#[test]
fn bytes_that_are_no_text_are_2() {
    let place = Place::new();
    let argument = Ended::of(place.run(["--model", "demo"]).arg(OsStr::from_bytes(b"a\xff")));
    argument.expect(2).says("invalid UTF-8");
    let mut child = start(&mut place.run(["--model", "demo", "-"]));
    feed(&mut child, b"caf\xe9");
    Ended::of_child(child).expect(2).says("no UTF-8 text (byte 3)");
}

#[test]
fn a_key_that_no_header_can_hold_is_2_and_is_not_shown() {
    let place = Place::new();
    let mut command = place.run(["--model", "m", "--base-url", "http://127.0.0.1:9", "hi"]);
    let ended = Ended::of(command.env("LLM_API_KEY", "s3cret\nkey")).expect(2).says("LLM_API_KEY");
    assert!(!ended.stderr.contains("s3cret"), "{ended:#?}");
}

#[test]
fn help_shows_an_example_and_the_exit_codes() {
    let place = Place::new();
    for (args, words) in [
        (vec!["--help"], "hermes run --model demo"),
        (vec!["run", "--help"], "LLM_API_KEY"),
        (vec!["run", "--help"], "stdout gets the answer"),
        (vec!["run", "--help"], "LLM_MODEL=qwen2.5:7b"),
        (vec!["run", "--help"], "130  it was cancelled"),
        (vec!["run", "-h"], "130  it was cancelled"),
        (vec!["trace", "verify", "--help"], "--no-digests old.r1.jsonl old.jsonl"),
        (vec!["trace", "verify", "--help"], "  10. A destructive tool was called only"),
        (vec!["--version"], "hermes 0."),
    ] {
        let ended = Ended::of(&mut place.hermes(args)).expect(0);
        assert!(ended.stdout.contains(words), "{}", ended.stdout);
    }
    Ended::of(&mut place.hermes([])).expect(2).says("hermes run");
}

//! The oracle: what must be true of every run. (That each task rebuilt from the journal equals the live one is checked
//! when the runtimes are dropped.)

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use hermes_actors::laws::{Ending, check as laws};
use hermes_bus::journal::Record;
use hermes_bus::laws::OpenEntry;

use super::clients::Heard;
use super::run::{Life, Seen};
use super::scenario::Scenario;
use super::watch::Saw;

/// Checks a life that began with an empty journal.
pub fn check(scenario: &Scenario, life: &Life) {
    check_after(&[], scenario, life);
}

/// Checks a life that went on after `before`.
pub fn check_after(before: &[Record], scenario: &Scenario, life: &Life) {
    let journal: &dyn hermes_bus::journal::Journal = &*life.disk;
    let records = hermes_bus::read_all(journal).unwrap();
    let written = life.disk.written();
    let expected: Vec<Record> = before.iter().chain(&written).cloned().collect();
    assert!(records == expected, "the journal holds something else than what was written");
    assert!(records.iter().map(|record| record.seq).eq(1..=records.len() as u64), "a number is missing");

    let whole = before.is_empty() && !scenario.is_broken_off();
    let ending = if whole { Ending::Whole } else { Ending::Crashed };
    let broken = laws(records.iter().map(|record| &record.line[..]), ending);
    assert!(broken.is_empty(), "{broken:#?}");

    let entries: Vec<_> = written.iter().map(|record| OpenEntry::parse(&record.line).unwrap()).collect();
    one_end_each(&entries, scenario.is_broken_off());
    admitted(&entries, scenario.admitted * scenario.runtimes);
    nothing_unjournaled(&entries, life);
    if let Some(seen) = &life.seen {
        outcomes(&entries, scenario, seen);
        observed(&records, scenario, seen);
    }
}

/// Every ask has exactly one end that is not late; where all was broken off, at most one.
fn one_end_each(entries: &[OpenEntry], broken_off: bool) {
    let mut ends: HashMap<&str, usize> = HashMap::new();
    for end in entries.iter().filter(|entry| !entry.late) {
        if let Some(ask) = &end.in_reply_to {
            *ends.entry(ask).or_default() += 1;
        }
    }
    for ask in entries.iter().filter(|entry| !entry.is_event()) {
        let found = ends.get(&*ask.id).copied().unwrap_or_default();
        let right = found == 1 || (broken_off && found == 0);
        assert!(right, "{} {} has {found} ends", ask.name, ask.id);
    }
}

/// Never more tasks from outside at once than are admitted.
fn admitted(entries: &[OpenEntry], most: usize) {
    let mut open: Vec<&str> = Vec::new();
    for entry in entries {
        if entry.name == "task.start" && entry.sender == "user" {
            open.push(&entry.id);
        }
        if let (Some(ask), false) = (&entry.in_reply_to, entry.late) {
            open.retain(|id| id != ask);
        }
        assert!(open.len() <= most, "{} tasks at once", open.len());
    }
}

/// No body ran, and nothing was delivered, of which the journal does not know.
fn nothing_unjournaled(entries: &[OpenEntry], life: &Life) {
    let wrong = life.wrong.lock().unwrap();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let count = |name: &str| entries.iter().filter(|entry| entry.name == name).count();
    assert!(life.begun.tools.load(Ordering::Relaxed) <= count("tool.started"), "a tool ran unjournaled");
    assert!(life.begun.chats.load(Ordering::Relaxed) <= count("llm.chat"), "a model was asked unjournaled");
}

/// What clients were told is what the journal says.
fn outcomes(entries: &[OpenEntry], scenario: &Scenario, seen: &Seen) {
    assert_eq!(seen.heard.len(), scenario.tasks.len());
    for heard in &seen.heard {
        match heard {
            Heard::Left => {}
            Heard::Refused(why) => assert!(scenario.is_broken_off(), "{why}"),
            Heard::Outcome(trace, outcome) => {
                let told = outcome.end.as_str();
                match finished(entries, &trace.to_string()) {
                    Some(end) if end.name == "task.finished" && !scenario.is_broken_off() => {
                        assert_eq!(end.payload["outcome"], told);
                    }
                    Some(end) if end.name == "task.finished" => {
                        assert!(
                            end.payload["outcome"] == told || told == "failed",
                            "{end:?} was told as {told}"
                        );
                    }
                    Some(_) => assert_eq!(told, "failed"),
                    None => assert!(scenario.is_broken_off() && told == "failed", "{told}, unjournaled"),
                }
            }
        }
    }
}

/// The end of the task from outside in this trace.
fn finished<'a>(entries: &'a [OpenEntry], trace: &str) -> Option<&'a OpenEntry> {
    let of_trace = || entries.iter().filter(|entry| entry.trace_id == trace);
    let start = of_trace().find(|entry| entry.name == "task.start" && entry.sender == "user")?;
    of_trace().find(|entry| entry.in_reply_to.as_ref() == Some(&start.id) && !entry.late)
}

/// Observers saw every record once, in order: all of them, or the beginning.
fn observed(records: &[Record], scenario: &Scenario, seen: &Seen) {
    for saw in &seen.observed {
        match saw {
            // One runtime may write on when another has stopped.
            Saw::All(seen) if scenario.runtimes == 1 => {
                assert!(seen == records, "an observer missed something");
            }
            Saw::All(seen) | Saw::Some(seen) => {
                assert!(records.starts_with(seen), "an observer saw another beginning");
            }
        }
    }
}

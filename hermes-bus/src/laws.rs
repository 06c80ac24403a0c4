//! The laws of a journal that concern every envelope (1 to 5), checked on the open JSON of its lines.

use std::collections::{HashMap, HashSet};
use std::fmt;

use crate::Address;
pub use open_entry::{NoEntry, OpenEntry};

mod open_entry;

/// Events that stand beside an ask and never end it.
const NOTES: [&str; 7] = [
    "tool.started",
    "tool.reused",
    "tool.rejected",
    "context.trimmed",
    "message.rejected",
    "task.resumed",
    "timer.fired",
];

/// A law that a journal breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// Which law.
    pub law: u8,
    /// At which line of the family, from 1.
    pub line: usize,
    /// The number that stands in that line, if one can be read.
    pub seq: Option<u64>,
    /// What is wrong.
    pub text: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "law {} broken at line {}", self.law, self.line)?;
        if let Some(seq) = self.seq {
            write!(f, " (seq {seq})")?;
        }
        write!(f, ": {}", self.text)
    }
}

/// Checks the laws 1 to 5 on the lines of one family, oldest first, without line feeds and without a torn last line:
///
/// 1. Every line parses and has every field.
/// 2. `seq` strictly increases within the family and within a trace.
/// 3. Ids are unique.
/// 4. A parent is earlier and in the same trace; only what comes from outside, or a topic event, has none.
/// 5. An ask has at most one terminal event that is not late.
///
/// ```
/// let journal = r#"{"v":1,"seq":1,"id":"e1","trace_id":"a3f90000000000000000000000000001","type":"command",
///     "name":"task.start","sender":"orchestrator","receiver":"llm","parent_id":null,
///     "ts":"2026-11-30T10:00:00.123Z","payload":{}}"#.replace('\n', "");
/// let broken = hermes_bus::laws::check(journal.lines());
/// assert_eq!(
///     broken[0].to_string(),
///     "law 4 broken at line 1 (seq 1): orchestrator is inside, so its task.start must have a parent"
/// );
/// ```
pub fn check<L: AsRef<[u8]>>(lines: impl IntoIterator<Item = L>) -> Vec<Broken> {
    let mut laws = Laws::default();
    for line in lines {
        laws.line(line.as_ref());
    }
    laws.broken
}

/// The laws 1 to 5, line by line: for whoever checks more laws over the same entries.
#[derive(Debug, Default)]
pub struct Laws {
    broken: Vec<Broken>,
    line: usize,
    last: u64,
    last_in_trace: HashMap<String, u64>,
    seen: HashMap<String, Seen>,
    ended: HashSet<String>,
}

/// What later lines need of an earlier one.
#[derive(Debug)]
struct Seen {
    seq: u64,
    trace_id: String,
    name: String,
    is_ask: bool,
    call_id: Option<serde_json::Value>,
}

impl Laws {
    /// Checks the next line. Gives the entry back, unless the line has not even the outline of one (which is said
    /// under law 1).
    pub fn line(&mut self, raw: &[u8]) -> Option<OpenEntry> {
        self.line += 1;
        match OpenEntry::parse(raw) {
            Err(wrong) => {
                self.broken.push(Broken { law: 1, line: self.line, seq: wrong.seq, text: wrong.text });
                None
            }
            Ok(mut entry) => {
                entry.line = self.line;
                self.shape(&entry);
                self.order(&entry);
                self.cause(&entry);
                self.answer(&entry);
                self.remember(&entry);
                Some(entry)
            }
        }
    }

    /// What was broken so far, in the order of the lines.
    pub fn broken(&self) -> &[Broken] {
        &self.broken
    }

    /// Adds what another law finds at `entry`.
    pub fn report(&mut self, law: u8, entry: &OpenEntry, text: impl Into<String>) {
        self.broken.push(Broken { law, line: entry.line, seq: entry.seq, text: text.into() });
    }

    /// All that was broken.
    pub fn into_broken(self) -> Vec<Broken> {
        self.broken
    }

    fn shape(&mut self, entry: &OpenEntry) {
        if !matches!(&*entry.kind, "command" | "event" | "query") {
            self.report(1, entry, format!("type `{}` is neither command, event nor query", entry.kind));
        }
        if !is_dotted_name(&entry.name) {
            self.report(1, entry, format!("name `{}` is not dotted lower case", entry.name));
        } else if entry.is_event() && (entry.name.ends_with(".delta") || entry.name.ends_with(".progress")) {
            self.report(1, entry, format!("interim {} does not belong in a journal", entry.name));
        }
        let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        if entry.trace_id.len() != 32 || !entry.trace_id.bytes().all(hex) {
            self.report(1, entry, format!("trace_id `{}` is not 32 hex digits", entry.trace_id));
        }
        for (side, address) in [("sender", &entry.sender), ("receiver", &entry.receiver)] {
            if Address::new(address).is_err() {
                self.report(1, entry, format!("{side} `{address}` is no address"));
            }
        }
        match chrono::DateTime::parse_from_rfc3339(&entry.ts) {
            Err(_) => self.report(1, entry, format!("ts `{}` is not RFC 3339", entry.ts)),
            Ok(ts) if ts.offset().local_minus_utc() != 0 => {
                self.report(1, entry, format!("ts `{}` is not UTC", entry.ts));
            }
            Ok(_) => {}
        }
    }

    fn order(&mut self, entry: &OpenEntry) {
        let Some(seq) = entry.seq else {
            return self.report(2, entry, "seq is not a positive integer");
        };
        if seq <= self.last {
            self.report(2, entry, format!("seq does not increase (previous {})", self.last));
        }
        if self.last_in_trace.get(&entry.trace_id).is_some_and(|last| seq <= *last) {
            self.report(2, entry, "seq does not increase within the trace");
        }
        self.last = seq;
        self.last_in_trace.insert(entry.trace_id.clone(), seq);
        if self.seen.contains_key(&entry.id) {
            self.report(3, entry, format!("id {} is used twice", entry.id));
        }
    }

    fn cause(&mut self, entry: &OpenEntry) {
        let Some(parent) = &entry.parent_id else {
            if entry.is_event() && !entry.receiver.starts_with("topic:") {
                self.report(4, entry, format!("event {} has no parent", entry.name));
            } else if !entry.is_event() && entry.sender != "user" {
                let text = format!("{} is inside, so its {} must have a parent", entry.sender, entry.name);
                self.report(4, entry, text);
            }
            return;
        };
        match self.seen.get(parent) {
            None => self.report(4, entry, format!("parent {parent} is not earlier in the journal")),
            Some(seen) if seen.trace_id != entry.trace_id => {
                self.report(4, entry, format!("parent {parent} belongs to another trace"));
            }
            Some(_) => {}
        }
    }

    fn answer(&mut self, entry: &OpenEntry) {
        let Some(ends) = &entry.in_reply_to else { return };
        if !entry.is_event() || NOTES.contains(&&*entry.name) {
            return self.report(5, entry, format!("{} cannot end an ask", entry.name));
        }
        let ask = self.seen.get(ends).filter(|ask| ask.is_ask && ask.trace_id == entry.trace_id);
        let Some(ask) = ask else {
            let text = format!("in_reply_to {ends} is no earlier command or query of this trace");
            return self.report(5, entry, text);
        };
        let ended = self.ended.contains(ends);
        let (second, mismatch) = (second_end(ask, ended, entry), other_call(ask, entry));
        if let Some(text) = second {
            self.report(5, entry, text);
        }
        if entry.late {
            return;
        }
        self.ended.insert(ends.clone());
        if let Some(text) = mismatch {
            self.report(5, entry, text);
        }
    }

    fn remember(&mut self, entry: &OpenEntry) {
        let is_call = entry.name == "tool.call";
        let seen = Seen {
            seq: entry.seq.unwrap_or(0),
            trace_id: entry.trace_id.clone(),
            name: entry.name.clone(),
            is_ask: !entry.is_event(),
            call_id: if is_call { entry.payload.get("call_id").cloned() } else { None },
        };
        self.seen.insert(entry.id.clone(), seen);
    }
}

/// What is wrong with an end, given whether its ask has ended before.
fn second_end(ask: &Seen, ended: bool, end: &OpenEntry) -> Option<String> {
    match (end.late, ended) {
        (true, false) => Some("late, but nothing ended the ask before it".to_owned()),
        (false, true) => Some(format!("second terminal event for {} (seq {})", ask.name, ask.seq)),
        _ => None,
    }
}

/// A tool call is answered under its own call id.
fn other_call(ask: &Seen, end: &OpenEntry) -> Option<String> {
    let null = serde_json::Value::Null;
    let (asked, answered) =
        (ask.call_id.as_ref().unwrap_or(&null), end.payload.get("call_id").unwrap_or(&null));
    let wrong = ask.name == "tool.call" && end.name != "envelope.failed" && asked != answered;
    wrong.then(|| format!("call_id {answered} answers {asked}"))
}

/// Whether `name` matches `^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$`.
fn is_dotted_name(name: &str) -> bool {
    let word = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_lowercase())
            && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    name.contains('.') && name.split('.').all(word)
}

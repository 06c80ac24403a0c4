//! A history: the journal of a run without what differs from one run to the next.

use std::collections::HashMap;

use hermes_bus::journal::Record;

/// The lines, where fresh ids are numbered in the order in which they appear, and times of the real clock are gone.
pub fn history(records: &[Record]) -> String {
    let mut names = HashMap::new();
    let mut text = String::new();
    for record in records {
        let line = std::str::from_utf8(&record.line).unwrap();
        name_ids(&without_times(line), &mut names, &mut text);
        text.push('\n');
    }
    text
}

/// Numbers every run of exactly 32 hex digits.
fn name_ids<'a>(line: &'a str, names: &mut HashMap<String, usize>, out: &mut String) {
    let mut rest: &'a str = line;
    while let Some(start) = rest.find(|c: char| c.is_ascii_hexdigit()) {
        let word = &rest[start..];
        let end = word.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(word.len());
        out.push_str(&rest[..start]);
        if end == 32 {
            let next = names.len() + 1;
            let number = *names.entry(word[..end].to_owned()).or_insert(next);
            out.push_str(&format!("#{number}"));
        } else {
            out.push_str(&word[..end]);
        }
        rest = &word[end..];
    }
    out.push_str(rest);
}

/// Leaves out `ts`, and the times in statistics, which are differences of it; the order of the slowest goes with them.
fn without_times(line: &str) -> String {
    let line = cut(line, "\"ts\":\"", '"');
    let line = cut(&line, "\"total_ms\":", ',');
    cut(&line, "\"slowest\":[", ']')
}

/// Cuts out what stands between `from` and the next `to`.
fn cut(line: &str, from: &str, to: char) -> String {
    match line.split_once(from) {
        Some((before, after)) => match after.split_once(to) {
            Some((_, after)) => format!("{before}{from}{to}{after}"),
            None => line.to_owned(),
        },
        None => line.to_owned(),
    }
}

//! A batch: the lines that are appended in one step, rendered into one buffer.

use bytes::Bytes;
use chrono::{DateTime, SecondsFormat, SubsecRound, Utc};

use super::{FORMAT, Record};

/// One line before it has a number: what the sender rendered, and what only the writer knows.
#[derive(Debug, Clone)]
pub struct Line {
    /// The line from `"id":` to its closing brace, without line feed.
    pub tail: Vec<u8>,
    /// Whether it is an end that came after another.
    pub late: bool,
    /// Whether it ends an ask whose body had begun.
    pub begun: bool,
}

/// Lines to append in one step.
#[derive(Debug)]
pub struct Batch {
    timestamp: DateTime<Utc>,
    lines: Vec<Line>,
    /// The number of the first line, and how many have one.
    first: u64,
    numbered: usize,
    rendered: Vec<u8>,
    /// Where each rendered line ends.
    ends: Vec<usize>,
}

/// How much room for rendered lines is kept from one batch to the next.
const KEPT: usize = 64 * 1024;

impl Batch {
    /// An empty batch at the time that all its lines get. The format counts milliseconds, so the time is cut to
    /// them here: who rebuilds must see what was seen live.
    pub fn new(timestamp: DateTime<Utc>) -> Self {
        let timestamp = timestamp.trunc_subsecs(3);
        Self { timestamp, lines: Vec::new(), first: 0, numbered: 0, rendered: Vec::new(), ends: Vec::new() }
    }

    /// Makes it an empty batch at another time, in the room that it has.
    pub(crate) fn reset(&mut self, timestamp: DateTime<Utc>) {
        self.timestamp = timestamp.trunc_subsecs(3);
        self.lines.clear();
        (self.first, self.numbered) = (0, 0);
        self.rendered.clear();
        self.rendered.shrink_to(KEPT);
        self.ends.clear();
    }

    /// Adds a line.
    pub fn push(&mut self, line: Line) {
        self.lines.push(line);
    }

    /// The lines, in their order.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// How many lines.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether there is nothing to append.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The time that stands in all of its lines.
    pub fn timestamp(&self) -> DateTime<Utc> {
        self.timestamp
    }

    /// Numbers the lines from `first` on and no more: for a journal that keeps none
    /// ([`Journal::keeps_lines`](super::Journal::keeps_lines)).
    pub fn number(&mut self, first: u64) {
        (self.first, self.numbered) = (first, self.lines.len());
    }

    /// Numbers the lines from `first` on and renders them one after another, a line feed after each.
    pub fn render(&mut self, first: u64) -> &[u8] {
        let ts = self.timestamp.to_rfc3339_opts(SecondsFormat::Millis, true);
        self.number(first);
        self.rendered.clear();
        self.rendered.reserve(self.lines.iter().map(|line| line.tail.len() + 96).sum());
        self.ends.clear();
        for (seq, line) in (first..).zip(&self.lines) {
            render_line(&mut self.rendered, seq, &ts, line);
            self.ends.push(self.rendered.len());
            self.rendered.push(b'\n');
        }
        &self.rendered
    }

    /// The number of the line at `index`; `None` before they are numbered.
    pub fn seq(&self, index: usize) -> Option<u64> {
        (index < self.numbered).then(|| self.first + index as u64)
    }

    /// The rendered lines, after [`Batch::render`]. They share one copy of what was rendered.
    pub fn records(&self) -> Vec<Record> {
        let rendered = Bytes::copy_from_slice(&self.rendered);
        let mut start = 0;
        let record = |(seq, end): (u64, &usize)| {
            let line = rendered.slice(start..*end);
            start = end + 1;
            Record { seq, line }
        };
        (self.first..).zip(&self.ends).map(record).collect()
    }
}

fn render_line(buffer: &mut Vec<u8>, seq: u64, ts: &str, line: &Line) {
    // By hand: this stands before every envelope.
    buffer.extend_from_slice(b"{\"v\":");
    number(buffer, u64::from(FORMAT));
    buffer.extend_from_slice(b",\"seq\":");
    number(buffer, seq);
    buffer.extend_from_slice(b",\"ts\":\"");
    buffer.extend_from_slice(ts.as_bytes());
    buffer.extend_from_slice(b"\",");
    if line.late {
        buffer.extend_from_slice(b"\"late\":true,");
    }
    if line.begun {
        buffer.extend_from_slice(b"\"begun\":true,");
    }
    buffer.extend_from_slice(&line.tail);
}

/// Writes a number in decimal digits.
fn number(buffer: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return buffer.extend_from_slice(&digits[at..]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_and_stamped() {
        let mut batch = Batch::new("2026-11-30T10:00:00.123Z".parse().unwrap());
        let line = |late, begun| Line { tail: b"\"id\":\"x\"}".to_vec(), late, begun };
        batch.push(line(false, false));
        batch.push(line(true, true));
        let text = String::from_utf8(batch.render(7).to_vec()).unwrap();
        expect_test::expect![[r#"
            {"v":1,"seq":7,"ts":"2026-11-30T10:00:00.123Z","id":"x"}
            {"v":1,"seq":8,"ts":"2026-11-30T10:00:00.123Z","late":true,"begun":true,"id":"x"}
        "#]]
        .assert_eq(&text);
        assert_eq!((batch.records()[1].seq, batch.seq(1), batch.seq(2)), (8, Some(8), None));
        for seq in [1, 10, 99, 1_000, u64::MAX / 2] {
            assert!(batch.render(seq).starts_with(format!("{{\"v\":1,\"seq\":{seq},").as_bytes()), "{seq}");
        }
        let text = String::from_utf8(batch.render(7).to_vec()).unwrap();
        assert!(text.lines().eq(batch.records().iter().map(|r| std::str::from_utf8(&r.line).unwrap())));
    }
}

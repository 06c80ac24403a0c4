//! A batch: the lines that are appended in one step, rendered into one buffer.

use bytes::Bytes;
use chrono::{DateTime, SecondsFormat, SubsecRound, Utc};

use super::{FORMAT, Record};

/// One line before it has a number: what the sender rendered, and what only the writer knows.
#[derive(Debug, Clone)]
pub struct Line {
    /// The line from `"id":` to its closing brace, without line feed.
    pub tail: Bytes,
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
    records: Vec<Record>,
}

impl Batch {
    /// An empty batch at the time that all its lines get. The format counts milliseconds, so the time is cut to
    /// them here: who rebuilds must see what was seen live.
    pub fn new(timestamp: DateTime<Utc>) -> Self {
        Self { timestamp: timestamp.trunc_subsecs(3), lines: Vec::new(), records: Vec::new() }
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

    /// Numbers the lines from `first` on and renders them into one buffer, a line feed after each.
    /// Afterwards [`Batch::records`] holds them, sharing that buffer.
    pub fn render(&mut self, first: u64) -> Bytes {
        let ts = self.timestamp.to_rfc3339_opts(SecondsFormat::Millis, true);
        let size: usize = self.lines.iter().map(|line| line.tail.len() + 96).sum();
        let mut buffer = Vec::with_capacity(size);
        let mut ends = Vec::with_capacity(self.lines.len());
        for (seq, line) in (first..).zip(&self.lines) {
            render_line(&mut buffer, seq, &ts, line);
            ends.push((seq, buffer.len()));
            buffer.push(b'\n');
        }
        let buffer = Bytes::from(buffer);
        let mut start = 0;
        self.records.clear();
        for (seq, end) in ends {
            self.records.push(Record { seq, line: buffer.slice(start..end) });
            start = end + 1;
        }
        buffer
    }

    /// The rendered lines, after [`Batch::render`].
    pub fn records(&self) -> &[Record] {
        &self.records
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
        let line = |late, begun| Line { tail: Bytes::from_static(b"\"id\":\"x\"}"), late, begun };
        batch.push(line(false, false));
        batch.push(line(true, true));
        let text = String::from_utf8(batch.render(7).to_vec()).unwrap();
        expect_test::expect![[r#"
            {"v":1,"seq":7,"ts":"2026-11-30T10:00:00.123Z","id":"x"}
            {"v":1,"seq":8,"ts":"2026-11-30T10:00:00.123Z","late":true,"begun":true,"id":"x"}
        "#]]
        .assert_eq(&text);
        assert_eq!(batch.records()[1].seq, 8);
        for seq in [1, 10, 99, 1_000, u64::MAX / 2] {
            assert!(batch.render(seq).starts_with(format!("{{\"v\":1,\"seq\":{seq},").as_bytes()), "{seq}");
        }
        let text = String::from_utf8(batch.render(7).to_vec()).unwrap();
        assert!(text.lines().eq(batch.records().iter().map(|r| std::str::from_utf8(&r.line).unwrap())));
    }
}

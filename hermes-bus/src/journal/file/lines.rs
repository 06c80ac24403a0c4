//! Lines of journal files: reading them in order, finding where a number stands, reading the number of one.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use bytes::Bytes;
use serde::Deserialize;

/// How much is read at once in the long run.
const CHUNK: usize = 64 * 1024;

/// How much is read first: often a few lines are enough.
const FIRST: usize = 8 * 1024;

/// What every line says of itself.
#[derive(Debug, Deserialize)]
pub(super) struct Numbered {
    pub v: u32,
    pub seq: u64,
}

/// The complete lines of a file between two places, without their line feeds.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    file: &'a File,
    /// The bytes read and not yet given out.
    chunk: Bytes,
    /// Where the next byte to read stands.
    at: u64,
    end: u64,
    /// How much is read next.
    step: usize,
}

impl<'a> Lines<'a> {
    /// From the beginning of a line to `end`. What follows the last line feed before `end` is left over.
    pub(super) fn new(file: &'a File, start: u64, end: u64) -> Self {
        Self { file, chunk: Bytes::new(), at: start, end, step: FIRST }
    }

    /// The next line. None when there is no further line feed.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(super) fn next(&mut self) -> io::Result<Option<Bytes>> {
        let mut searched = 0;
        loop {
            if let Some(length) = self.chunk[searched..].iter().position(|b| *b == b'\n') {
                let mut line = self.chunk.split_to(searched + length + 1);
                line.truncate(searched + length);
                return Ok(Some(line));
            }
            searched = self.chunk.len();
            if !self.read_on()? {
                return Ok(None);
            }
        }
    }

    /// What follows the last line feed, once [`Lines::next`] has given None.
    pub(super) fn left_over(&self) -> &Bytes {
        &self.chunk
    }

    /// Appends the next bytes to the chunk. A line that spans many makes it grow twofold each time.
    fn read_on(&mut self) -> io::Result<bool> {
        let left = usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let size = left.min(self.chunk.len().max(self.step));
        self.step = CHUNK.min(2 * self.step);
        let kept = self.chunk.len();
        let mut buffer = Vec::with_capacity(kept + size);
        buffer.extend_from_slice(&self.chunk);
        buffer.resize(kept + size, 0);
        let count = read_up_to(self.file, &mut buffer[kept..], self.at)?;
        buffer.truncate(kept + count);
        self.at += count as u64;
        self.chunk = Bytes::from(buffer);
        Ok(count > 0)
    }
}

/// Reads until `buffer` is full or the file ends.
pub(super) fn read_up_to(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    let mut count = 0;
    while count < buffer.len() {
        match file.read_at(&mut buffer[count..], at + count as u64) {
            Ok(0) => break,
            Ok(n) => count += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(count)
}

/// The beginning of a line at most a few chunks before the first with a number above `after`; at or before it in
/// any case. Numbers increase, so halving finds it in a file of any size.
///
/// # Errors
/// When the file cannot be read.
pub(super) fn locate(file: &File, end: u64, after: u64) -> io::Result<u64> {
    let (mut low, mut high) = (0, end);
    while high - low > CHUNK as u64 {
        let middle = low + (high - low) / 2;
        match line_behind(file, middle, high)? {
            Some((start, seq)) if seq <= after => low = start,
            _ => high = middle,
        }
    }
    Ok(low)
}

/// Where the first line that begins behind `place` and before `end` begins, and its number.
fn line_behind(file: &File, place: u64, end: u64) -> io::Result<Option<(u64, u64)>> {
    let mut lines = Lines::new(file, place, end);
    let Some(rest) = lines.next()? else { return Ok(None) };
    let start = place + rest.len() as u64 + 1;
    Ok(lines.next()?.and_then(|line| seq_of(&line)).map(|seq| (start, seq)))
}

/// The number in a line. Ours stands at its head; a line that another program wrote is parsed.
pub(super) fn seq_of(line: &[u8]) -> Option<u64> {
    let ours = line.strip_prefix(b"{\"v\":1,\"seq\":").and_then(|rest| {
        let digits = rest.iter().position(|b| !b.is_ascii_digit())?;
        std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()
    });
    ours.or_else(|| serde_json::from_slice::<Numbered>(line).ok().map(|line| line.seq))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journal(lines: u64, padding: usize) -> File {
        let mut text = String::new();
        for seq in 1..=lines {
            text += &format!("{{\"v\":1,\"seq\":{},\"x\":\"{}\"}}\n", seq * 2, "x".repeat(padding));
        }
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(text.as_bytes(), 0).unwrap();
        file
    }

    #[test]
    fn lines_longer_than_a_chunk_come_whole() {
        let file = journal(3, 3 * CHUNK);
        let end = file.metadata().unwrap().len();
        let mut lines = Lines::new(&file, 0, end - 1);
        assert_eq!(seq_of(&lines.next().unwrap().unwrap()), Some(2));
        assert_eq!(seq_of(&lines.next().unwrap().unwrap()), Some(4));
        assert_eq!(lines.next().unwrap(), None);
        assert_eq!(seq_of(lines.left_over()), Some(6));
    }

    #[test]
    fn a_number_is_found_wherever_it_stands() {
        for (count, padding) in [(1, 10), (5_000, 100), (40, 20_000), (5, 4 * CHUNK)] {
            let file = journal(count, padding);
            let end = file.metadata().unwrap().len();
            for after in [0, 1, 2, 3, count, 2 * count - 1, 2 * count, 2 * count + 1] {
                let start = locate(&file, end, after).unwrap();
                let first = Lines::new(&file, start, end).next().unwrap().and_then(|line| seq_of(&line));
                assert!(start == 0 || first.is_some_and(|seq| seq <= after), "{count} {after} {first:?}");
                let far = 3 * (CHUNK + padding) as u64;
                let goal = (after / 2).min(count) * (end / count);
                assert!(goal.saturating_sub(start) <= far, "{count} {padding} {after}: {start} for {goal}");
            }
        }
    }

    #[test]
    fn the_number_of_a_line() {
        assert_eq!(seq_of(br#"{"v":1,"seq":12,"id":"x"}"#), Some(12));
        assert_eq!(seq_of(br#"{"id":"x", "seq": 3, "v":1}"#), Some(3));
        assert_eq!(seq_of(br#"{"v":1,"seq":1"#), None);
        assert_eq!(seq_of(b"# Readme"), None);
    }
}

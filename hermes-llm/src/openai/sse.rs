//! Server-sent events from bytes, however the bytes are cut: a fold without any I/O.
//!
//! It follows the standard where that says something, and takes two things that servers of models do beside it: a field
//! `error`, and a bare JSON object on a line of its own. Neither ever stands in an event that follows the standard.

use memchr::memchr2;

pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// One event: its data, lines joined by `\n`, and its name, empty for most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Event<'a> {
    pub(super) name: &'a [u8],
    pub(super) data: &'a [u8],
}

/// What of the stream is not yet an event.
#[derive(Debug, Default)]
pub(super) struct Sse {
    /// The line that has begun.
    line: Vec<u8>,
    name: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    /// A line feed that comes next belongs to the line end before it.
    after_return: bool,
    past_first_line: bool,
}

impl Sse {
    /// Takes the next bytes and gives each event that they complete to `each`, until that fails.
    ///
    /// # Errors
    /// What `each` returns; the stream is over then.
    pub(super) fn push<E>(
        &mut self,
        bytes: &[u8],
        mut each: impl FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rest = bytes;
        if self.after_return && !rest.is_empty() {
            self.after_return = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(end) = memchr2(b'\n', b'\r', rest) {
            let (line, after) = (&rest[..end], &rest[end + 1..]);
            rest = match rest[end] {
                b'\r' => after.strip_prefix(b"\n").unwrap_or(after),
                _ => after,
            };
            self.after_return = bytes.last() == Some(&b'\r') && rest.is_empty();
            if self.line.is_empty() {
                self.take_line(line, &mut each)?;
            } else {
                let mut whole = std::mem::take(&mut self.line);
                whole.extend_from_slice(line);
                self.take_line(&whole, &mut each)?;
                whole.clear();
                self.line = whole;
            }
        }
        self.line.extend_from_slice(rest);
        Ok(())
    }

    /// The end of the stream: gives the event that no blank line has closed, if there is one.
    ///
    /// # Errors
    /// What `each` returns.
    pub(super) fn end<E>(&mut self, mut each: impl FnMut(Event<'_>) -> Result<(), E>) -> Result<(), E> {
        let line = std::mem::take(&mut self.line);
        self.take_line(&line, &mut each)?;
        self.take_line(b"", &mut each)
    }

    fn take_line<E>(
        &mut self,
        mut line: &[u8],
        each: &mut impl FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.past_first_line {
            self.past_first_line = true;
            line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        }
        match line.first() {
            None => return self.dispatch(each),
            Some(b':') => {}
            Some(b'{') => {
                self.add_data(line);
                return self.dispatch(each);
            }
            Some(_) => self.take_field(line),
        }
        Ok(())
    }

    fn take_field(&mut self, line: &[u8]) {
        let (field, value) = match memchr::memchr(b':', line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &b""[..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => self.add_data(value),
            b"event" => self.name = value.to_vec(),
            b"error" => {
                self.name = field.to_vec();
                self.add_data(value);
            }
            // `id` and `retry` are for reconnecting, which asking a model is not.
            _ => {}
        }
    }

    fn add_data(&mut self, value: &[u8]) {
        if self.has_data {
            self.data.push(b'\n');
        }
        self.has_data = true;
        self.data.extend_from_slice(value);
    }

    fn dispatch<E>(&mut self, each: &mut impl FnMut(Event<'_>) -> Result<(), E>) -> Result<(), E> {
        let dispatched = match self.has_data {
            true => each(Event { name: &self.name, data: &self.data }),
            false => Ok(()),
        };
        self.has_data = false;
        self.data.clear();
        self.name.clear();
        dispatched
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    /// The events of these packets, each as `name|data`.
    fn events(packets: &[&[u8]]) -> Vec<String> {
        let mut found = Vec::new();
        let mut keep = |event: Event<'_>| {
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            found.push(format!("{}|{}", text(event.name), text(event.data)));
            Ok::<(), Infallible>(())
        };
        let mut sse = Sse::default();
        for packet in packets {
            sse.push(packet, &mut keep).unwrap();
        }
        sse.end(&mut keep).unwrap();
        found
    }

    #[test]
    fn events_are_read_however_their_lines_end() {
        for (stream, expected) in [
            ("data: 早\n\ndata:b\n\n", &["|早", "|b"][..]),
            ("data: a\r\n\r\ndata: b\r\n\r\n", &["|a", "|b"]),
            ("data: a\r\rdata: b\r\r", &["|a", "|b"]),
            ("\u{feff}data: a\n\n", &["|a"]),
            (": hello\n\n\n:\ndata: a\n: more\ndata: b\n\n", &["|a\nb"]),
            ("event: error\nid: 7\nretry: 1\ndata: x\n\ndata: y\n\n", &["error|x", "|y"]),
            ("data\ndata:\ndata:  two\n\n", &["|\n\n two"]),
            ("event: lonely\n\ndata: a\nnonsense\n", &["|a"]),
            ("data: not closed", &["|not closed"]),
            ("data: a\n\n{\"error\":1}\nerror: {}", &["|a", "|{\"error\":1}", "error|{}"]),
            ("", &[]),
        ] {
            assert_eq!(events(&[stream.as_bytes()]), expected, "{stream:?}");
            let bytes: Vec<_> = stream.as_bytes().chunks(1).collect();
            assert_eq!(events(&bytes), expected, "{stream:?} byte by byte");
        }
    }

    #[test]
    fn a_line_end_cut_in_two_is_one_line_end() {
        assert_eq!(events(&[b"data: a\r", b"\n\r", b"\ndata: b\r\n", b"", b"\r\n"]), ["|a", "|b"]);
        assert_eq!(events(&[b"data: a\r", b"data: b\r", b"\r"]), ["|a\nb"]);
    }

    #[test]
    fn the_first_failure_ends_it() {
        let mut seen = 0;
        let failed = Sse::default().push(b"data: a\n\ndata: b\n\n", |_| {
            seen += 1;
            Err("enough")
        });
        assert_eq!((failed, seen), (Err("enough"), 1));
    }
}

//! What stands on the screen: lines, text that comes in pieces, and below them a line that vanishes.

/// Takes away the line that the cursor is in.
const CLEAR: &str = "\r\x1b[2K";

/// Lines are not broken at the edge of the screen, else a long one could not be taken away; and back to breaking them.
const CUT: (&str, &str) = ("\x1b[?7l", "\x1b[?7h");

/// A piece of output.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece {
    Stdout(String),
    Stderr(String),
}

/// Where the cursor is.
#[derive(Debug, Default, PartialEq, Eq)]
enum Cursor {
    #[default]
    LineStart,
    /// After text that has not ended its line.
    InText,
    /// After the line that vanishes.
    InStatus,
}

/// The screen, as far as it must be known to write on.
#[derive(Debug, Default)]
pub struct Screen {
    cursor: Cursor,
}

impl Screen {
    /// A whole line, on stderr.
    pub fn line(&mut self, line: &str) -> Vec<Piece> {
        let mut pieces = self.end_text();
        pieces.extend(self.clear());
        pieces.push(Piece::Stderr(format!("{line}\n")));
        pieces
    }

    /// A piece of text, on stdout.
    pub fn text(&mut self, text: &str) -> Vec<Piece> {
        if text.is_empty() {
            return Vec::new();
        }
        let mut pieces = self.clear();
        self.cursor = if text.ends_with('\n') { Cursor::LineStart } else { Cursor::InText };
        pieces.push(Piece::Stdout(text.to_owned()));
        pieces
    }

    /// The end of a text: what comes next begins a line.
    pub fn end_text(&mut self) -> Vec<Piece> {
        if self.cursor != Cursor::InText {
            return Vec::new();
        }
        self.cursor = Cursor::LineStart;
        vec![Piece::Stdout("\n".to_owned())]
    }

    /// The line that vanishes, instead of the one before. It waits while a text is being written.
    pub fn status(&mut self, words: &str) -> Vec<Piece> {
        if self.cursor == Cursor::InText {
            return Vec::new();
        }
        let mut pieces = self.clear();
        self.cursor = Cursor::InStatus;
        pieces.push(Piece::Stderr(format!("{}{words}{}", CUT.0, CUT.1)));
        pieces
    }

    /// Takes away the line that vanishes.
    pub fn clear(&mut self) -> Vec<Piece> {
        if self.cursor != Cursor::InStatus {
            return Vec::new();
        }
        self.cursor = Cursor::LineStart;
        vec![Piece::Stderr(CLEAR.to_owned())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both streams in the order in which they were written.
    fn written(pieces: impl IntoIterator<Item = Vec<Piece>>) -> String {
        let text = |piece| match piece {
            Piece::Stdout(text) | Piece::Stderr(text) => text,
        };
        pieces.into_iter().flatten().map(text).collect()
    }

    #[test]
    fn lines_alone_are_lines() {
        let mut screen = Screen::default();
        assert_eq!(screen.line("北京"), [Piece::Stderr("北京\n".into())]);
        assert_eq!((screen.clear(), screen.end_text()), (vec![], vec![]));
    }

    #[test]
    fn a_line_does_not_run_into_a_text() {
        let mut screen = Screen::default();
        let said = written([
            screen.text("晴，"),
            screen.text("22°C"),
            screen.line("[06]"),
            screen.text("a\n"),
            screen.line("b"),
        ]);
        assert_eq!(said, "晴，22°C\n[06]\na\nb\n");
    }

    #[test]
    fn a_status_vanishes_and_waits_for_a_text() {
        let mut screen = Screen::default();
        let said = written([
            screen.status("1s"),
            screen.status("2s"),
            screen.line("a"),
            screen.status("3s"),
            screen.text("b"),
            screen.status("4s"),
            screen.end_text(),
            screen.status("5s"),
            screen.clear(),
        ]);
        let status = |words| format!("\x1b[?7l{words}\x1b[?7h");
        let (one, two, three, five) = (status("1s"), status("2s"), status("3s"), status("5s"));
        assert_eq!(said, format!("{one}{CLEAR}{two}{CLEAR}a\n{three}{CLEAR}b\n{five}{CLEAR}"));
    }
}

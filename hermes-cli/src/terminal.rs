//! What a person reads: lines on stderr, in colour where that helps, without what could steer a terminal.

use std::io::{IsTerminal, Write, stderr};

/// Whether lines are coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// They are.
    On,
    /// They are plain.
    Off,
}

impl Colour {
    /// In colour on a terminal, unless `NO_COLOR` says otherwise.
    pub fn of_stderr() -> Self {
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        if stderr().is_terminal() && !unwanted { Self::On } else { Self::Off }
    }

    /// `text` in the colour of an ANSI code.
    pub fn paint(self, text: &str, code: &str) -> String {
        match self {
            Self::On => format!("\x1b[{code}m{text}\x1b[0m"),
            Self::Off => text.to_owned(),
        }
    }
}

/// Writes a line to stderr. Nobody may be reading: that is no reason to stop.
pub fn say(line: &str) {
    let _ = writeln!(stderr().lock(), "{line}");
}

/// The text without control characters other than line feeds and tabs: models and servers wrote it.
pub fn harmless(text: &str) -> String {
    text.replace(|c: char| c.is_control() && c != '\n' && c != '\t', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_taken_out() {
        assert_eq!(harmless("a\x1b[31m\u{9b}b\r\n\t北京🙂"), "a [31m b \n\t北京🙂");
    }

    #[test]
    fn colour_is_put_around_a_text() {
        assert_eq!(Colour::On.paint("x", "36"), "\x1b[36mx\x1b[0m");
        assert_eq!(Colour::Off.paint("x", "36"), "x");
    }
}

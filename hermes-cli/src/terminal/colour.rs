//! Whether lines are coloured.

use std::ffi::OsString;
use std::io::{IsTerminal, stderr};

/// Whether lines are coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// They are.
    On,
    /// They are plain.
    Off,
}

impl Colour {
    /// In colour on a terminal, unless `NO_COLOR` says otherwise; anywhere when `CLICOLOR_FORCE` says so.
    pub fn of_stderr() -> Self {
        Self::of(stderr().is_terminal(), |name| std::env::var_os(name))
    }

    fn of(is_terminal: bool, variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let set = |name| variable(name).filter(|value| !value.is_empty());
        let forced = set("CLICOLOR_FORCE").is_some_and(|value| value != "0");
        let dumb = set("TERM").is_some_and(|value| value == "dumb");
        match set("NO_COLOR") {
            None if forced || (is_terminal && !dumb) => Self::On,
            _ => Self::Off,
        }
    }

    /// `text` in the colour of an ANSI code.
    pub fn paint(self, text: &str, code: &str) -> String {
        match self {
            Self::On => format!("\x1b[{code}m{text}\x1b[0m"),
            Self::Off => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_is_put_around_a_text() {
        assert_eq!(Colour::On.paint("x", "36"), "\x1b[36mx\x1b[0m");
        assert_eq!(Colour::Off.paint("x", "36"), "x");
    }

    #[test]
    fn variables_say_whether_there_is_colour() {
        let of = |is_terminal, set: &[(&str, &str)]| {
            let find =
                |name: &str| set.iter().find(|(other, _)| *other == name).map(|(_, value)| value.into());
            Colour::of(is_terminal, find)
        };
        for (is_terminal, set, colour) in [
            (true, [("NO_COLOR", "")], Colour::On),
            (true, [("NO_COLOR", "1")], Colour::Off),
            (true, [("TERM", "dumb")], Colour::Off),
            (false, [("NO_COLOR", "")], Colour::Off),
            (false, [("CLICOLOR_FORCE", "1")], Colour::On),
            (false, [("CLICOLOR_FORCE", "0")], Colour::Off),
        ] {
            assert_eq!(of(is_terminal, &set), colour, "{is_terminal} {set:?}");
        }
        assert_eq!(of(true, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]), Colour::Off);
    }
}

//! What a person reads: lines on stderr, in colour where that helps, without what could steer a terminal.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _, stderr};
use std::sync::LazyLock;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

/// How long the end of the program waits for a stderr that takes no bytes.
const PATIENCE: Duration = Duration::from_secs(1);

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

/// What the thread gets that writes to stderr.
enum Post {
    Line(String),
    /// Who waits until all before this is written.
    Drained(Sender<()>),
}

/// Only one thread writes to stderr, so that only that one waits when a full pipe takes no bytes. What waits for it has
/// no bound but the length of the run: to lose lines of a slow reader would be worse.
static STDERR: LazyLock<Sender<Post>> = LazyLock::new(|| {
    let (post, posts) = channel();
    // Without the thread nothing can be said; the run is worth more than its words.
    let _ = thread::Builder::new().name("stderr".to_owned()).spawn(move || write_all(&posts));
    post
});

fn write_all(posts: &Receiver<Post>) {
    for post in posts {
        // Nobody may be reading, or waiting any more: that is no reason to stop.
        let _ = match post {
            Post::Line(line) => writeln!(stderr().lock(), "{line}").ok(),
            Post::Drained(waiting) => waiting.send(()).ok(),
        };
    }
}

/// Says a text on stderr, made [harmless], without waiting for anybody.
pub fn say(text: &str) {
    say_painted(harmless(text));
}

/// Says a line on stderr as it is.
pub fn say_painted(line: String) {
    let _ = STDERR.send(Post::Line(line));
}

/// Waits until all that was said is written, or for a second when nobody takes it.
pub fn drain() {
    let (written, waiting) = channel();
    if STDERR.send(Post::Drained(written)).is_ok() {
        // Who takes nothing for so long would hold up the end for ever.
        let _ = waiting.recv_timeout(PATIENCE);
    }
}

/// The text as a terminal may get it, for models, servers and the makers of files wrote it: a blank for every control
/// character other than line feed and tab, and nothing for what cannot be seen but changes what is.
pub fn harmless(text: &str) -> String {
    text.chars()
        .filter(|c| !is_invisible(*c))
        .map(|c| if is_control(c) && c != '\n' && c != '\t' { ' ' } else { c })
        .collect()
}

/// JSON that means the same, with what [`harmless`] takes out written as `\u....`.
pub fn harmless_json(json: &str) -> String {
    let mut harmless = String::with_capacity(json.len());
    for c in json.chars() {
        // Outside of strings there is none of these, except white space, which JSON escapes within them.
        if is_invisible(c) || (is_control(c) && !c.is_ascii_whitespace()) {
            // Writing to a string does not fail.
            let _ = write!(harmless, "\\u{:04x}", u32::from(c));
        } else {
            harmless.push(c);
        }
    }
    harmless
}

/// Controls of both ASCII and Latin-1, and the two separators of lines and paragraphs.
fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

/// What turns the direction of text around, or has no width. Not the two joiners (U+200C, U+200D): Persian, the scripts
/// of India and many an emoji are misspelt without them.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_taken_out() {
        assert_eq!(harmless("a\x1b[31m\u{9b}\x7fb\r\n\t北京🙂"), "a [31m  b \n\t北京🙂");
    }

    #[test]
    fn what_cannot_be_seen_is_taken_out_and_joiners_stay() {
        assert_eq!(harmless("a\u{202e}b\u{2066}c\u{200b}d\u{200f}e\u{feff}f\u{2028}g"), "abcdef g");
        assert_eq!(harmless("👩\u{200d}💻 می\u{200c}خواهم שלום"), "👩\u{200d}💻 می\u{200c}خواهم שלום");
    }

    #[test]
    fn json_keeps_its_meaning_and_steers_nothing() {
        let text = "a\x1b\x7f\u{9b}\u{202e}\u{2028}\u{feff}\n\t北京👩\u{200d}💻\\";
        let json = harmless_json(&serde_json::json!({"text": text}).to_string());
        assert_eq!(
            json,
            "{\"text\":\"a\\u001b\\u007f\\u009b\\u202e\\u2028\\ufeff\\n\\t北京👩\u{200d}💻\\\\\"}"
        );
        assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap()["text"], text);
    }

    #[test]
    fn colour_is_put_around_a_text() {
        assert_eq!(Colour::On.paint("x", "36"), "\x1b[36mx\x1b[0m");
        assert_eq!(Colour::Off.paint("x", "36"), "x");
    }
}

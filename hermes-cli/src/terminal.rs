//! What a person reads: lines on stderr and, where stdout is a terminal too, text as it comes.

use std::io::{self, IsTerminal, stderr, stdout};
use std::sync::LazyLock;

use tokio::sync::oneshot;

pub use colour::Colour;
pub use harmless::{clip, harmless, harmless_json};
pub use keyboard::{Keyboard, take_end};
use writer::{Post, Status, Writer};

mod colour;
mod harmless;
mod keyboard;
mod screen;
mod writer;

/// Writes what goes to stderr.
static LINES: LazyLock<Writer> = LazyLock::new(Writer::start);

/// Writes text on stdout. On one screen with the lines it comes in turn with them; else a stderr that takes no bytes
/// must not hold it up.
static TEXT: LazyLock<Writer> =
    LazyLock::new(|| if stderr().is_terminal() { LINES.clone() } else { Writer::start() });

/// Says a text on stderr, made [`harmless()`], without waiting for anybody.
pub fn say(text: &str) {
    say_painted(harmless(text));
}

/// Says a line on stderr as it is.
pub fn say_painted(line: String) {
    LINES.post(Post::Line(line));
}

/// Whether somebody reads on stdout as it is written: then text may come in pieces.
pub fn is_watched() -> bool {
    stdout().is_terminal()
}

/// Writes a piece of a text on a stdout that [is watched](is_watched), made [`harmless()`].
pub fn say_piece(text: &str) {
    TEXT.post(Post::Text(harmless(text)));
}

/// Ends such a text: what comes next begins a line.
pub fn end_pieces() {
    TEXT.post(Post::EndText);
}

/// Waits until all such text is written, however long that takes.
///
/// # Errors
/// When stdout did not take all of it.
///
/// # Cancel safety
/// When dropped, the writing goes on; a failure may be told to nobody.
pub async fn pieces_written() -> io::Result<()> {
    let (told, written) = oneshot::channel();
    TEXT.post(Post::Written(told));
    written.await.unwrap_or_else(|_| Err(io::Error::other("there is no thread that writes")))
}

/// Whether stderr can show a line that vanishes.
pub fn tells_waiting() -> bool {
    stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|terminal| terminal != "dumb")
}

/// Tells, on a line that vanishes, what is waited for; `None` takes it away. Nothing where there can be no such line.
pub fn wait_for(words: Option<String>) {
    if tells_waiting() {
        let status = words.map(|words| Status::new(harmless(&words).replace('\n', " ")));
        LINES.post(Post::Status(status));
    }
}

/// Waits until all that was said on stderr is written, or for a second when nobody takes it. For text, see
/// [`pieces_written`].
pub fn drain() {
    LINES.drain();
}

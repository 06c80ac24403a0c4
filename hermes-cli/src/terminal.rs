//! What a person reads: lines on stderr and, where stdout is a terminal too, text as it comes.

use std::io::{IsTerminal, Write, stderr, stdout};
use std::sync::LazyLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

pub use colour::Colour;
pub use harmless::{clip, harmless, harmless_json};
use screen::{Piece, Screen};

mod colour;
mod harmless;
mod screen;

/// How long the end of the program waits for a stderr that takes no bytes.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often the line that vanishes tells the time.
const TICK: Duration = Duration::from_secs(1);

/// What the thread gets that writes.
enum Post {
    Line(String),
    Text(String),
    EndText,
    Status(Option<Status>),
    /// Who waits until all before this is written.
    Drained(Sender<()>),
}

/// What is waited for, and since when.
struct Status {
    words: String,
    since: Instant,
}

/// Only one thread writes to stderr, so that only that one waits when a full pipe takes no bytes. What waits for it has
/// no bound but the length of the run: to lose lines of a slow reader would be worse.
static WRITER: LazyLock<Sender<Post>> = LazyLock::new(|| {
    let (post, posts) = channel();
    // Without the thread nothing can be said; the run is worth more than its words.
    let _ = thread::Builder::new().name("terminal".to_owned()).spawn(move || write_all(&posts));
    post
});

fn write_all(posts: &Receiver<Post>) {
    let colour = Colour::of_stderr();
    let (mut screen, mut status) = (Screen::default(), None::<Status>);
    loop {
        let post = match &status {
            None => posts.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(_) => posts.recv_timeout(TICK),
        };
        let pieces = match post {
            Ok(Post::Line(line)) => screen.line(&line),
            Ok(Post::Text(text)) => screen.text(&text),
            Ok(Post::EndText) => screen.end_text(),
            Ok(Post::Status(new)) => {
                status = new;
                screen.clear()
            }
            Ok(Post::Drained(waiting)) => {
                put(screen.clear());
                // Nobody may be waiting any more.
                let _ = waiting.send(());
                continue;
            }
            Err(RecvTimeoutError::Timeout) => {
                let words = status.as_ref().map(Status::told).unwrap_or_default();
                screen.status(&colour.paint(&words, "2"))
            }
            Err(RecvTimeoutError::Disconnected) => return,
        };
        put(pieces);
    }
}

impl Status {
    fn told(&self) -> String {
        format!("… {} ({}s)", self.words, self.since.elapsed().as_secs())
    }
}

/// Nobody may be reading: that is no reason to stop.
fn put(pieces: Vec<Piece>) {
    for piece in pieces {
        let _ = match piece {
            Piece::Stdout(text) => {
                let mut out = stdout().lock();
                out.write_all(text.as_bytes()).and_then(|()| out.flush())
            }
            Piece::Stderr(text) => stderr().lock().write_all(text.as_bytes()),
        };
    }
}

/// Says a text on stderr, made [`harmless()`], without waiting for anybody.
pub fn say(text: &str) {
    say_painted(harmless(text));
}

/// Says a line on stderr as it is.
pub fn say_painted(line: String) {
    let _ = WRITER.send(Post::Line(line));
}

/// Whether somebody reads on stdout as it is written: then text may come in pieces.
pub fn is_watched() -> bool {
    stdout().is_terminal()
}

/// Writes a piece of a text on a stdout that [is watched](is_watched), made [`harmless()`].
pub fn say_piece(text: &str) {
    let _ = WRITER.send(Post::Text(harmless(text)));
}

/// Ends such a text: what comes next begins a line.
pub fn end_pieces() {
    let _ = WRITER.send(Post::EndText);
}

/// Whether stderr can show a line that vanishes.
pub fn tells_waiting() -> bool {
    stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|terminal| terminal != "dumb")
}

/// Tells, on a line that vanishes, what is waited for; `None` takes it away. Nothing where there can be no such line.
pub fn wait_for(words: Option<String>) {
    if tells_waiting() {
        let status =
            words.map(|words| Status { words: harmless(&words).replace('\n', " "), since: Instant::now() });
        let _ = WRITER.send(Post::Status(status));
    }
}

/// Waits until all that was said is written, or for a second when nobody takes it.
pub fn drain() {
    let (written, waiting) = channel();
    if WRITER.send(Post::Drained(written)).is_ok() {
        // Who takes nothing for so long would hold up the end for ever.
        let _ = waiting.recv_timeout(PATIENCE);
    }
}

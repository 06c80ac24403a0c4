//! The thread that writes on a terminal, so that nobody else waits for one that takes no bytes.

use std::io::{self, Write, stderr, stdout};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::Colour;
use super::screen::{Piece, Screen};

/// How long [`Writer::drain`] waits for who takes no bytes.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often the line that vanishes tells the time.
const TICK: Duration = Duration::from_secs(1);

/// What the thread gets.
pub enum Post {
    Line(String),
    Text(String),
    EndText,
    Status(Option<Status>),
    /// Who waits until all before this is written.
    Drained(mpsc::Sender<()>),
    /// Who waits likewise, and wants to know whether stdout took it.
    Written(oneshot::Sender<io::Result<()>>),
}

/// What is waited for, and since when.
pub struct Status {
    words: String,
    since: Instant,
}

/// Sends what is to be written. What waits for the thread has no bound but the length of the run: to lose lines of a
/// slow reader would be worse.
#[derive(Clone)]
pub struct Writer(mpsc::Sender<Post>);

impl Writer {
    /// Starts a thread.
    pub fn start() -> Self {
        let (post, posts) = channel();
        let write = move || Pen::new(stdout(), stderr()).write_all(&posts);
        // Without the thread nothing can be said; the run is worth more than its words.
        let _ = thread::Builder::new().name("terminal".to_owned()).spawn(write);
        Self(post)
    }

    /// Hands it on without waiting. Who waits for a thread that is gone is told by the channel that was in the post.
    pub fn post(&self, post: Post) {
        let _ = self.0.send(post);
    }

    /// Waits until all that was posted is written, or for a second when nobody takes it.
    pub fn drain(&self) {
        let (told, drained) = channel();
        self.post(Post::Drained(told));
        // Who takes nothing for so long would hold up the end for ever.
        let _ = drained.recv_timeout(PATIENCE);
    }
}

impl Status {
    /// From now on.
    pub fn new(words: String) -> Self {
        Self { words, since: Instant::now() }
    }

    fn told(&self) -> String {
        format!("… {} ({}s)", self.words, self.since.elapsed().as_secs())
    }
}

/// What writes, and what is on the screen.
struct Pen<O, E> {
    stdout: O,
    stderr: E,
    screen: Screen,
    status: Option<Status>,
    /// The first failure of stdout that nobody was told.
    failure: Option<io::Error>,
}

impl<O: Write, E: Write> Pen<O, E> {
    fn new(stdout: O, stderr: E) -> Self {
        Self { stdout, stderr, screen: Screen::default(), status: None, failure: None }
    }

    fn write_all(&mut self, posts: &Receiver<Post>) {
        let colour = Colour::of_stderr();
        loop {
            let post = match &self.status {
                None => posts.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(_) => posts.recv_timeout(TICK),
            };
            match post {
                Ok(post) => self.write(post),
                Err(RecvTimeoutError::Timeout) => {
                    let words = self.status.as_ref().map(Status::told).unwrap_or_default();
                    let pieces = self.screen.status(&colour.paint(&words, "2"));
                    self.put(pieces);
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn write(&mut self, post: Post) {
        let pieces = match &post {
            Post::Line(line) => self.screen.line(line),
            Post::Text(text) => self.screen.text(text),
            Post::EndText => self.screen.end_text(),
            Post::Status(_) | Post::Drained(_) => self.screen.clear(),
            Post::Written(_) => Vec::new(),
        };
        self.put(pieces);
        match post {
            Post::Status(status) => self.status = status,
            // Nobody may be waiting any more.
            Post::Drained(waiting) => drop(waiting.send(())),
            Post::Written(waiting) => drop(waiting.send(self.failure.take().map_or(Ok(()), Err))),
            Post::Line(_) | Post::Text(_) | Post::EndText => {}
        }
    }

    /// Nobody may be reading stderr: that is no reason to stop. What stdout does not take is told to who asks.
    fn put(&mut self, pieces: Vec<Piece>) {
        for piece in pieces {
            match piece {
                Piece::Stdout(text) => {
                    let written = self.stdout.write_all(text.as_bytes()).and_then(|()| self.stdout.flush());
                    self.failure = self.failure.take().or(written.err());
                }
                Piece::Stderr(text) => drop(self.stderr.write_all(text.as_bytes())),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether all that was said so far is written.
    fn written(pen: &mut Pen<impl Write, impl Write>) -> Result<(), String> {
        let (told, mut written) = oneshot::channel();
        pen.write(Post::Written(told));
        written.try_recv().unwrap().map_err(|error| error.to_string())
    }

    #[test]
    fn a_stdout_that_is_full_is_told_once_and_a_stderr_that_is_full_never() {
        let (mut paper, mut lines) = ([0; 8], Vec::new());
        let mut pen = Pen::new(&mut paper[..], &mut lines);
        pen.write(Post::Text("晴，".into()));
        assert_eq!(written(&mut pen), Ok(()));
        pen.write(Post::Text("22°C".into()));
        pen.write(Post::EndText);
        pen.write(Post::Line("a".into()));
        assert_eq!(written(&mut pen), Err("failed to write whole buffer".into()));
        assert_eq!(written(&mut pen), Ok(()));
        assert_eq!(lines, b"a\n");

        let mut pen = Pen::new(Vec::new(), &mut [][..]);
        pen.write(Post::Line("a".into()));
        assert_eq!(written(&mut pen), Ok(()));
    }
}

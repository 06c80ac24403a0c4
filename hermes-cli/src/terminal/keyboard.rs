//! The keyboard of the terminal on stdin: its mode, and an end of the input that was typed ahead.

use std::io::{self, Read, stdin};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionread;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

use super::TEXT;
use super::writer::Post;

/// Ends the mode in which a paste is marked, which editors of lines ask for.
const PASTE_OFF: &str = "\x1b[?2004l";

/// The mode that the terminal was found in.
pub struct Keyboard {
    found: Termios,
}

impl Keyboard {
    /// Takes down the mode.
    ///
    /// # Errors
    /// When stdin is no terminal.
    pub fn of_stdin() -> io::Result<Self> {
        Ok(Self { found: tcgetattr(stdin())? })
    }

    /// Gives the terminal back as it was found, on a new line, though an editor may still be reading.
    pub fn give_back(&self) {
        // A terminal that is gone needs nothing. Not after what is being written: it may take no bytes.
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.found);
        TEXT.post(Post::Text(format!("{PASTE_OFF}\n")));
        TEXT.drain();
    }
}

/// Takes the Ctrl-D that was typed first of all since the last line was read, if it was: an editor would not see it.
pub fn take_end() -> bool {
    let stdin = stdin();
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    let ready = poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&at_once));
    // There is something to read, and it has no bytes.
    let ends = ready == Ok(1) && ioctl_fionread(&stdin) == Ok(0);
    ends && matches!(stdin.lock().read(&mut [0]), Ok(0))
}

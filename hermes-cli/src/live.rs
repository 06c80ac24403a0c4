//! A running task as a person sees it: its text as it comes, and what it waits for.

use std::io;
use std::time::Duration;

use hermes_actors::{End, Outcome, TaskHandle, TextStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::report::Form;
use crate::terminal::{end_pieces, is_watched, pieces_written, say_piece, tells_waiting};
use crate::waiting;

/// How long the end of a task waits for what else is shown of it, and that of a cancelled one for its text.
const PATIENCE: Duration = Duration::from_secs(1);

/// When the text is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text {
    AsItComes,
    AtTheEnd,
}

/// What was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    Text,
    Nothing,
}

/// What shows a task.
pub struct Live {
    text: Option<JoinHandle<Shown>>,
    waiting: Option<JoinHandle<()>>,
}

impl Text {
    /// As it comes where a person reads it, in the end where a program does.
    pub fn of_stdout(form: Form) -> Self {
        if form == Form::Text && is_watched() { Self::AsItComes } else { Self::AtTheEnd }
    }
}

/// Shows the task from now on.
pub fn show(handle: &TaskHandle, text: Text) -> Live {
    let text = (text == Text::AsItComes).then(|| tokio::spawn(pieces(handle.text())));
    let waiting = tells_waiting().then(|| waiting::show(handle));
    Live { text, waiting }
}

async fn pieces(mut text: TextStream) -> Shown {
    let mut shown = Shown::Nothing;
    while let Some(piece) = text.next().await {
        say_piece(&piece);
        shown = Shown::Text;
    }
    end_pieces();
    shown
}

impl Live {
    /// Waits until all is shown. The text is waited for however slow the terminal is, unless somebody wanted the end.
    ///
    /// # Errors
    /// When stdout did not take all of the text.
    pub async fn end(self, outcome: &Outcome) -> io::Result<Shown> {
        // What is waited for is of no use any more.
        if let Some(waiting) = self.waiting {
            let _ = timeout(PATIENCE, waiting).await;
        }
        let Some(text) = self.text else { return Ok(Shown::Nothing) };
        match outcome.end {
            End::Cancelled => timeout(PATIENCE, written(text)).await.unwrap_or(Ok(Shown::Text)),
            _ => written(text).await,
        }
    }
}

async fn written(text: JoinHandle<Shown>) -> io::Result<Shown> {
    // A stream that broke is no loss: the answer is in the outcome as well.
    let shown = text.await.unwrap_or(Shown::Nothing);
    pieces_written().await.map(|()| shown)
}

//! A running task as a person sees it: its text as it comes, and what it waits for.

use std::time::Duration;

use hermes_actors::{TaskHandle, TextStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::report::Form;
use crate::terminal::{end_pieces, is_watched, say_piece, tells_waiting};
use crate::waiting;

/// How long a task that has ended waits for what is shown of it.
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
    /// Waits until all is shown.
    pub async fn end(self) -> Shown {
        // Who shows cannot hold up a run; and what it shows is in the outcome as well.
        if let Some(waiting) = self.waiting {
            let _ = timeout(PATIENCE, waiting).await;
        }
        match self.text {
            Some(text) => timeout(PATIENCE, text).await.ok().and_then(Result::ok).unwrap_or(Shown::Nothing),
            None => Shown::Nothing,
        }
    }
}

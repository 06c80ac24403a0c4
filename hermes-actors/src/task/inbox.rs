//! The inbox: what a task accepts, as its own small enum.

use hermes_bus::{Envelope, Id, Payload, TimerFired};

use crate::protocol::{CancelTask, TaskStart};

/// What was delivered.
pub(super) enum Inbox {
    Start(TaskStart),
    Cancel,
    Timer(TimerFired),
    /// The end of something that the task asked for.
    Ended(Id),
    Unacceptable(String),
}

/// Reads an envelope, typed or as JSON.
pub(super) fn read(envelope: &Envelope) -> Inbox {
    if let Some(ask) = envelope.in_reply_to {
        return Inbox::Ended(ask);
    }
    let read = match envelope.body.name() {
        TaskStart::NAME => envelope.get::<TaskStart>().map(|start| Inbox::Start(start.clone())),
        CancelTask::NAME => envelope.get::<CancelTask>().map(|_| Inbox::Cancel),
        TimerFired::NAME => envelope.get::<TimerFired>().map(|timer| Inbox::Timer(timer.clone())),
        other => return Inbox::Unacceptable(format!("a task does not know `{other}`")),
    };
    read.unwrap_or_else(|why| Inbox::Unacceptable(why.to_string()))
}

//! The exit codes.

use std::process::ExitCode;

use hermes_actors::{End, Outcome};

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// The task was completed; the journals are lawful.
    Good = 0,
    /// The task failed, or the model refused it; a law is broken.
    Failed = 1,
    /// Nothing was done: the words or the settings cannot be used.
    Usage = 2,
    /// A limit stopped the task.
    Limit = 3,
    /// The model's endpoint could not be reached, or refused us.
    Endpoint = 4,
    /// Somebody cancelled the task.
    Cancelled = 130,
}

impl Exit {
    /// What an outcome means to the caller of the program.
    pub fn of(outcome: &Outcome) -> Self {
        match outcome.end {
            End::Completed => Self::Good,
            End::Cancelled => Self::Cancelled,
            End::MaxIterations | End::Budget | End::Deadline | End::Stuck | End::ContextExceeded => {
                Self::Limit
            }
            End::Refused => Self::Failed,
            End::Failed if outcome.failure.as_ref().is_some_and(|failure| failure.endpoint) => Self::Endpoint,
            End::Failed => Self::Failed,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

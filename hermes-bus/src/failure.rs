//! `envelope.failed`: the end that any ask may have, written by the bus when no actor could give one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Event, Kind, Payload};

/// Ends an ask that its receiver did not end.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct EnvelopeFailed {
    /// Which of the known ways.
    pub kind: FailureKind,
    /// Why, for a person.
    pub message: String,
}

/// The ways in which an ask ends without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// No actor has the address, or it closed with the ask unread.
    Undelivered,
    /// The asker's time ran out, or what it was asked for has ended.
    Expired,
    /// A rule or a gate refused it.
    Rejected,
    /// The receiver does not understand it.
    Unacceptable,
    /// The receiver died while it held it.
    Restarted,
}

impl EnvelopeFailed {
    /// A failure of `kind` with words for a person.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

impl Payload for EnvelopeFailed {
    const NAME: &'static str = "envelope.failed";
    const KIND: Kind = Kind::Event;
}
impl Event for EnvelopeFailed {}

//! What the bus itself says to actors: a timer has fired, an ask should be given up.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Event, Id, Kind, Payload};

/// `timer.fired`: a timer that guards an open ask has run out. Sent by `clock`, caused by that ask, ends nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct TimerFired {
    /// The ask that it guards.
    pub guards: Id,
    /// What the timer was armed for, in the words of whoever armed it: `timeout`, `deadline`.
    pub timer: String,
}

impl Payload for TimerFired {
    const NAME: &'static str = "timer.fired";
    const KIND: Kind = Kind::Event;
}
impl Event for TimerFired {}

/// `ask.abort`: the asker does not want the answer any more. Interim: it asks the receiver, who still owes one end,
/// to give it soon.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct AskAbort {
    /// The ask that should end.
    pub ask: Id,
}

impl Payload for AskAbort {
    const NAME: &'static str = "ask.abort";
    const KIND: Kind = Kind::Event;
    const INTERIM: bool = true;
}
impl Event for AskAbort {}

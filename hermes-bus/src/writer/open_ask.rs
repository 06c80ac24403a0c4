//! Open asks: which asks of a trace wait for their end, who waits, and what runs for them.

use std::sync::Arc;
use std::time::Duration;

use super::clock::{Due, TimerKey};
use super::routes::DirectoryId;
use super::{ActorId, Asker};
use crate::envelope::{Meta, inherited};
use crate::render::Rendered;
use crate::{Address, Envelope, Id};

/// A trace with something going on in it.
#[derive(Default)]
pub(crate) struct Trace {
    /// The agent's actors, where its addresses are looked up.
    pub directory: Option<DirectoryId>,
    /// The actors of this trace only (orchestrators). Few, so a list.
    pub actors: Vec<(Address, ActorId)>,
    /// The asks without an end. Few, so a list.
    pub asks: Vec<OpenAsk>,
}

/// An ask that has no end yet.
pub(crate) struct OpenAsk {
    pub id: Id,
    pub sender: Address,
    pub receiver: Address,
    /// What its end inherits.
    pub meta: Option<Meta>,
    /// Who gets the end.
    pub asker: Asker,
    /// Who has it.
    pub actor: ActorId,
    /// The open ask that it works for.
    pub below: Option<Id>,
    /// Whether its body has begun.
    pub begun: bool,
    /// The timers that guard it.
    pub timers: Vec<TimerKey>,
    /// While a gate holds it: the timers that stand still, and what is left of each.
    pub paused: Option<Vec<(Duration, Due)>>,
    /// As it was delivered; nothing before the batch that holds it is in the journal.
    pub envelope: Option<Arc<Envelope>>,
}

impl OpenAsk {
    pub(crate) fn new(rendered: &Rendered, asker: Asker, actor: ActorId) -> Self {
        let ask = &rendered.envelope;
        Self {
            id: ask.id,
            sender: ask.sender.clone(),
            receiver: ask.receiver.clone(),
            meta: inherited(ask.meta.as_ref()),
            asker,
            actor,
            below: rendered.below,
            begun: false,
            timers: Vec::new(),
            paused: None,
            envelope: None,
        }
    }

    /// Whether a body runs for it, or is about to.
    pub(crate) fn has_bodies(&self) -> bool {
        self.envelope.as_ref().is_some_and(|envelope| envelope.bodies.are_there())
    }

    /// Ends what runs for it.
    pub(crate) fn end_bodies(&self) {
        if let Some(envelope) = &self.envelope {
            envelope.bodies.end();
        }
    }

    /// Its number; before it has one, a greater one than any.
    pub(crate) fn seq(&self) -> u64 {
        self.envelope.as_ref().map_or(u64::MAX, |envelope| envelope.seq)
    }
}

impl Trace {
    pub(crate) fn open(&mut self, ask: OpenAsk) {
        if self.asks.is_empty() {
            // Most traces begin with one ask, and many never have two.
            self.asks.reserve_exact(1);
        }
        self.asks.push(ask);
    }

    pub(crate) fn ask(&self, id: Id) -> Option<&OpenAsk> {
        self.asks.iter().find(|ask| ask.id == id)
    }

    pub(crate) fn ask_mut(&mut self, id: Id) -> Option<&mut OpenAsk> {
        self.asks.iter_mut().find(|ask| ask.id == id)
    }

    pub(crate) fn take(&mut self, id: Id) -> Option<OpenAsk> {
        let at = self.asks.iter().position(|ask| ask.id == id)?;
        // In order: it is the order in which asks are ended.
        Some(self.asks.remove(at))
    }

    /// The open asks that work for `ask`, at any depth, deepest first.
    pub(crate) fn below(&self, ask: Id) -> Vec<Id> {
        let mut found: Vec<Id> = Vec::new();
        if self.asks.iter().all(|a| a.below != Some(ask)) {
            return found;
        }
        let mut upper = vec![ask];
        while let Some(above) = upper.pop() {
            let children = self.asks.iter().filter(|a| a.below == Some(above)).map(|a| a.id);
            let before = found.len();
            found.extend(children);
            upper.extend_from_slice(&found[before..]);
        }
        found.reverse();
        found
    }

    /// Whether nothing is going on in it any more.
    pub(crate) fn is_over(&self) -> bool {
        self.asks.is_empty() && self.actors.is_empty()
    }
}

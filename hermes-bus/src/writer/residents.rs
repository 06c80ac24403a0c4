//! Residents: how actors come, die, are made anew and go, and how a trace without any is forgotten.

use super::{ActorId, DirectoryId, LastWords, Place, Registration, Trace, Writer};
use crate::mailbox::{Mail, caught};
use crate::{Body, EnvelopeFailed, FailureKind, TraceId};

impl Writer {
    /// Gives an actor its address and lets it be made. Only now, because what it sends needs an address.
    pub(super) fn register(&mut self, new: Registration) {
        let trace =
            if let Place::Trace(id) = new.place { Some(self.traces.entry(id).or_default()) } else { None };
        match self.routes.add(&new, trace) {
            Ok(()) => new.mailbox.put(Mail::Born(new.done)),
            Err(why) => {
                new.mailbox.close();
                if let Place::Trace(trace) = new.place {
                    self.touch(trace);
                }
                let _ = new.done.map(|done| done.send(Err(why)));
            }
        }
    }

    /// An actor was made anew: what it had taken and nobody works on is ended.
    pub(super) fn restarted(&mut self, actor: ActorId, seq: u64, reason: &str) {
        self.end_received(actor, &died(reason), |open| open.seq() <= seq && !open.has_bodies());
    }

    /// An actor is given up: everything it has is ended, and its address is gone.
    pub(super) fn lost(&mut self, actor: ActorId, reason: &str, last_words: &LastWords) {
        for (trace, id) in self.received(actor, |_| true) {
            let Some(open) = self.traces.get(&trace).and_then(|t| t.ask(id)) else { continue };
            // A stranger's code runs here: its panic is no reason to lose the writer.
            let words = |ask| caught(|| last_words(ask, reason)).ok().flatten();
            let words = open.envelope.as_deref().and_then(words);
            self.end_with(trace, id, words.unwrap_or_else(|| Body::new(died(reason))));
        }
        self.retire(actor);
    }

    pub(super) fn remove_directory(&mut self, directory: DirectoryId) {
        for actor in self.routes.take_directory(directory) {
            let why = EnvelopeFailed::new(FailureKind::Undelivered, "its receiver is gone");
            self.end_received(actor, &why, |_| true);
            self.retire(actor);
        }
    }

    /// Takes the actor's address away and closes its mailbox.
    pub(super) fn retire(&mut self, actor: ActorId) {
        let Some(resident) = self.routes.remove(actor) else { return };
        resident.mailbox.close();
        if let Place::Trace(trace) = resident.place {
            if let Some(t) = self.traces.get_mut(&trace) {
                t.actors.retain(|(_, other)| *other != actor);
            }
            self.touch(trace);
        }
    }

    /// Remembers that something ended in a trace.
    pub(super) fn touch(&mut self, trace: TraceId) {
        if self.touched.last() != Some(&trace) {
            self.touched.push(trace);
        }
    }

    /// Forgets the traces in which nothing goes on any more. Not before the batch is delivered: it may go on in a
    /// trace, and what belongs to a trace comes before the news that it is over.
    pub(super) fn settle_touched(&mut self) {
        for trace in std::mem::take(&mut self.touched) {
            if self.traces.get(&trace).is_some_and(Trace::is_over) {
                let directory = self.traces.remove(&trace).and_then(|t| t.directory);
                for mailbox in self.routes.remembering(directory) {
                    mailbox.put(Mail::TraceClosed(trace));
                }
            }
        }
    }
}

fn died(reason: &str) -> EnvelopeFailed {
    EnvelopeFailed::new(FailureKind::Restarted, format!("its receiver died: {reason}"))
}

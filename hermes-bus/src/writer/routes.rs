//! Routes: which actor has which address, and where an address is looked up.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::id_hash::IdMap;
use super::open_ask::Trace;
use super::{ActorId, Registration};
use crate::mailbox::Mailbox;
use crate::{Address, Envelope, TraceId};

/// A set of addresses of its own within a runtime: the actors of one agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DirectoryId(pub(crate) u64);

/// Where an address holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// In all of the runtime.
    Runtime,
    /// In the traces that are bound to this directory.
    Directory(DirectoryId),
    /// In this trace only.
    Trace(TraceId),
}

/// An actor that cannot have the address it wants.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// Another has it.
    #[error("an actor with the address `{0}` is registered already: give this one another name")]
    Taken(Address),
    /// No actor can have it.
    #[error("`{0}` is a reserved name: give the actor another")]
    Reserved(Address),
    /// It could not be started, or the runtime has stopped.
    #[error("the actor `{0}` could not be started: {1}")]
    NotStarted(Address, String),
}

/// A registered actor.
pub(crate) struct Resident {
    pub place: Place,
    pub address: Address,
    pub mailbox: Mailbox,
    pub remembers_traces: bool,
    /// What a gate holds for it, and what waits behind that, oldest first.
    pub held: VecDeque<Arc<Envelope>>,
    /// The gate that holds the first of these.
    pub held_by: u64,
}

#[derive(Default)]
pub(crate) struct Routes {
    residents: IdMap<ActorId, Resident>,
    runtime: HashMap<Address, ActorId>,
    directories: IdMap<DirectoryId, HashMap<Address, ActorId>>,
    /// Those that want to hear when a trace is over.
    remembering: Vec<ActorId>,
}

impl Routes {
    /// Looks an address up: in the trace; then, numbers stripped, in its directory; then in the runtime.
    pub(crate) fn find(&self, trace: Option<&Trace>, address: &Address) -> Option<ActorId> {
        let here =
            trace.and_then(|t| t.actors.iter().find(|(known, _)| known == address).map(|(_, actor)| *actor));
        if here.is_some() {
            return here;
        }
        let plain = match address.unnumbered() {
            std::borrow::Cow::Borrowed(_) => address.clone(),
            std::borrow::Cow::Owned(text) => Address::new(&text).ok()?,
        };
        let directory = trace.and_then(|t| t.directory).and_then(|id| self.directories.get(&id));
        directory.and_then(|d| d.get(&plain)).or_else(|| self.runtime.get(&plain)).copied()
    }

    /// Gives the actor its address; in a trace, `trace` is that trace.
    pub(crate) fn add(&mut self, new: &Registration, trace: Option<&mut Trace>) -> Result<(), RegisterError> {
        let (actor, address) = (new.actor, new.address.clone());
        if address.is_reserved() {
            return Err(RegisterError::Reserved(address));
        }
        let taken = match (new.place, trace) {
            (Place::Runtime, _) => insert(&mut self.runtime, &address, actor),
            (Place::Directory(id), _) => insert(self.directories.entry(id).or_default(), &address, actor),
            (Place::Trace(_), Some(trace)) => {
                let taken = trace.actors.iter().any(|(known, _)| *known == address);
                if !taken {
                    trace.actors.push((address.clone(), actor));
                }
                taken
            }
            (Place::Trace(_), None) => false,
        };
        if taken {
            return Err(RegisterError::Taken(address));
        }
        if new.remembers_traces {
            self.remembering.push(actor);
        }
        let (place, mailbox, remembers_traces) = (new.place, new.mailbox.clone(), new.remembers_traces);
        let (held, held_by) = (VecDeque::new(), 0);
        self.residents.insert(actor, Resident { place, address, mailbox, remembers_traces, held, held_by });
        Ok(())
    }

    pub(crate) fn resident_mut(&mut self, actor: ActorId) -> Option<&mut Resident> {
        self.residents.get_mut(&actor)
    }

    pub(crate) fn resident(&self, actor: ActorId) -> Option<&Resident> {
        self.residents.get(&actor)
    }

    /// Takes the actor's address away, but for the entry in its trace.
    pub(crate) fn remove(&mut self, actor: ActorId) -> Option<Resident> {
        let resident = self.residents.remove(&actor)?;
        match resident.place {
            Place::Runtime => drop(self.runtime.remove(&resident.address)),
            Place::Directory(id) => {
                if let Some(directory) = self.directories.get_mut(&id) {
                    directory.remove(&resident.address);
                }
            }
            Place::Trace(_) => {}
        }
        if resident.remembers_traces {
            self.remembering.retain(|other| *other != actor);
        }
        Some(resident)
    }

    /// The actors of a directory, oldest first. The directory is forgotten.
    pub(crate) fn take_directory(&mut self, directory: DirectoryId) -> Vec<ActorId> {
        let mut actors: Vec<_> =
            self.directories.remove(&directory).unwrap_or_default().into_values().collect();
        actors.sort_by_key(|actor| actor.0);
        actors
    }

    /// The mailboxes of those that want to hear that a trace bound to `directory` is over.
    pub(crate) fn remembering(&self, directory: Option<DirectoryId>) -> impl Iterator<Item = &Mailbox> {
        self.remembering.iter().filter_map(move |actor| {
            let resident = self.residents.get(actor)?;
            let concerned = match resident.place {
                Place::Directory(id) => Some(id) == directory,
                Place::Runtime | Place::Trace(_) => true,
            };
            concerned.then_some(&resident.mailbox)
        })
    }

    pub(crate) fn close_all(&mut self) {
        for (_, resident) in self.residents.drain() {
            resident.mailbox.close();
        }
    }
}

fn insert(addresses: &mut HashMap<Address, ActorId>, address: &Address, actor: ActorId) -> bool {
    let taken = addresses.contains_key(address);
    if !taken {
        addresses.insert(address.clone(), actor);
    }
    taken
}

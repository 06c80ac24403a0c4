//! Envelopes: what is handed to the bus (a draft) and what the bus delivers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::bodies::Bodies;
use crate::payload::{Got, PayloadError};
use crate::{Address, Body, Event, Id, Payload, TraceId};

/// Free strings that descend with a trace: traceparent, session, the user's tags.
pub type Meta = Arc<BTreeMap<String, String>>;

/// The key in [`Meta`] that names the rule which changed or rejected an envelope.
pub(crate) const RULE: &str = "rule";

/// An envelope that is not sent yet. The bus gives it its number and its time.
#[derive(Debug, Clone)]
pub struct Draft {
    pub(crate) id: Id,
    pub(crate) trace_id: TraceId,
    pub(crate) sender: Address,
    pub(crate) receiver: Address,
    pub(crate) parent_id: Option<Id>,
    pub(crate) in_reply_to: Option<Id>,
    pub(crate) meta: Option<Meta>,
    pub(crate) body: Body,
    pub(crate) below: Option<Id>,
    pub(crate) closes: bool,
    pub(crate) expires_after: Option<Duration>,
}

impl Draft {
    /// An ask from outside, which has no cause: it opens (or enters) a trace.
    pub fn from_user(trace_id: TraceId, receiver: Address, payload: impl Payload) -> Self {
        Self::from_outside(trace_id, receiver, Body::new(payload))
    }

    /// As [`Draft::from_user`], with a payload that is wrapped already: one that came over the network, say.
    pub fn from_outside(trace_id: TraceId, receiver: Address, body: Body) -> Self {
        Self::raw(Id::fresh(), Address::user(), receiver, trace_id, body)
    }

    /// An envelope that `cause` made happen: it inherits trace and meta.
    pub fn caused_by(cause: &Envelope, sender: Address, receiver: Address, payload: impl Payload) -> Self {
        Self::carrying(cause, sender, receiver, Body::new(payload))
    }

    /// As [`Draft::caused_by`], with a payload that is wrapped already.
    pub fn carrying(cause: &Envelope, sender: Address, receiver: Address, body: Body) -> Self {
        Self::identified(Id::fresh(), cause, sender, receiver, body)
    }

    /// As [`Draft::carrying`], with a named id: nothing in it comes from chance.
    pub fn identified(id: Id, cause: &Envelope, sender: Address, receiver: Address, body: Body) -> Self {
        let below = if cause.body.kind().is_ask() { Some(cause.id) } else { None };
        // An interim envelope stands in no journal: what made it happen is the cause.
        let parent_id = if cause.body.is_interim() { cause.parent_id } else { Some(cause.id) };
        let draft = Self::raw(id, sender, receiver, cause.trace_id, body);
        Self { parent_id, meta: inherited(cause.meta.as_ref()), below, ..draft }
    }

    /// The event that ends `ask`, sent by its receiver to its asker and caused by it.
    pub fn ending(ask: &Envelope, payload: impl Event) -> Self {
        Self::ending_with(ask, Body::new(payload))
    }

    /// As [`Draft::ending`], with a payload that is wrapped already.
    pub fn ending_with(ask: &Envelope, body: Body) -> Self {
        let draft = Self::carrying(ask, ask.receiver.clone(), ask.sender.clone(), body);
        Self { in_reply_to: Some(ask.id), below: None, ..draft }
    }

    fn raw(id: Id, sender: Address, receiver: Address, trace_id: TraceId, body: Body) -> Self {
        let (parent_id, in_reply_to, meta) = (None, None, None);
        let (below, closes, expires_after) = (None, false, None);
        Self {
            id,
            trace_id,
            sender,
            receiver,
            parent_id,
            in_reply_to,
            meta,
            body,
            below,
            closes,
            expires_after,
        }
    }

    /// Gives it a named id instead of a fresh one.
    pub fn with_id(self, id: Id) -> Self {
        Self { id, ..self }
    }

    /// Says who sends it.
    pub fn sent_by(self, sender: Address) -> Self {
        Self { sender, ..self }
    }

    /// Gives it another cause in the same trace.
    pub fn with_parent(self, parent_id: Id) -> Self {
        Self { parent_id: Some(parent_id), ..self }
    }

    /// Says where it is written to go (an end is *delivered* to the asker whatever stands here).
    pub fn with_receiver(self, receiver: Address) -> Self {
        Self { receiver, ..self }
    }

    /// Says which open ask this one works for: when that ends, this one is ended before it.
    /// Without it, an ask works for the ask that caused it.
    pub fn below(self, ask: Id) -> Self {
        Self { below: Some(ask), ..self }
    }

    /// Says which ask it ends.
    pub fn in_reply_to(self, ask: Id) -> Self {
        Self { in_reply_to: Some(ask), ..self }
    }

    /// Makes it the last envelope of its sender: what is still open below the ask that it ends, and what waits
    /// unread in the sender's mailbox, is ended first; then this; then the address is gone.
    pub fn closing(self) -> Self {
        Self { closes: true, ..self }
    }

    /// Ends the ask as `expired` when nothing else has ended it in this time.
    pub fn expires_after(self, time: Duration) -> Self {
        Self { expires_after: Some(time), ..self }
    }

    /// Tags for everything that descends from it.
    pub fn with_meta(self, meta: BTreeMap<String, String>) -> Self {
        Self { meta: Some(Arc::new(meta)), ..self }
    }

    /// Its id.
    pub fn id(&self) -> Id {
        self.id
    }

    /// Its trace.
    pub fn trace_id(&self) -> TraceId {
        self.trace_id
    }

    /// Who sends it.
    pub fn sender(&self) -> &Address {
        &self.sender
    }

    /// To whom.
    pub fn receiver(&self) -> &Address {
        &self.receiver
    }

    /// The ask that it ends.
    pub fn ends(&self) -> Option<Id> {
        self.in_reply_to
    }

    /// What it carries.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// Its payload as a `P`.
    ///
    /// # Errors
    /// When it is another payload, or does not have the shape of `P`.
    pub fn get<P: Payload>(&self) -> Result<Got<'_, P>, PayloadError> {
        self.body.get()
    }

    /// As it is delivered under a number: for whoever feeds a machine by hand.
    pub fn delivered(self, seq: u64, timestamp: DateTime<Utc>) -> Envelope {
        let Self { id, trace_id, sender, receiver, parent_id, in_reply_to, meta, body, .. } = self;
        let bodies = Bodies::default();
        Envelope {
            seq,
            timestamp,
            id,
            trace_id,
            sender,
            receiver,
            parent_id,
            in_reply_to,
            meta,
            body,
            bodies,
        }
    }

    /// As an envelope that has neither number nor time yet.
    pub(crate) fn into_envelope(self) -> Envelope {
        self.delivered(0, DateTime::UNIX_EPOCH)
    }
}

/// An envelope as an actor gets it: journaled (unless it is interim), then delivered, never changed again.
#[derive(Debug, Clone)]
pub struct Envelope {
    /// Its number in the journal; 0 when it is interim.
    pub seq: u64,
    /// When it was numbered.
    pub timestamp: DateTime<Utc>,
    /// Its own id.
    pub id: Id,
    /// Its trace.
    pub trace_id: TraceId,
    /// Who sent it.
    pub sender: Address,
    /// To whom it was written.
    pub receiver: Address,
    /// What made it happen.
    pub parent_id: Option<Id>,
    /// The ask that it ends.
    pub in_reply_to: Option<Id>,
    /// The tags of its trace.
    pub meta: Option<Meta>,
    /// What it carries.
    pub body: Body,
    pub(crate) bodies: Bodies,
}

impl Envelope {
    /// The payload as a `P`.
    ///
    /// # Errors
    /// When it is another payload, or does not have the shape of `P`.
    pub fn get<P: Payload>(&self) -> Result<Got<'_, P>, PayloadError> {
        self.body.get()
    }

    /// Whether this is an event to its own sender that ends nothing: journaled and observed, delivered to nobody.
    pub fn is_note(&self) -> bool {
        is_note(self.body.kind(), &self.sender, &self.receiver, self.in_reply_to)
    }
}

/// What descends of an envelope's meta: all but the name of the rule that changed this one.
pub(crate) fn inherited(meta: Option<&Meta>) -> Option<Meta> {
    let meta = meta?;
    if !meta.contains_key(RULE) {
        return Some(meta.clone());
    }
    let mut meta = (**meta).clone();
    meta.remove(RULE);
    if meta.is_empty() { None } else { Some(Arc::new(meta)) }
}

/// Whether an envelope with this header is a note.
pub(crate) fn is_note(kind: crate::Kind, sender: &Address, receiver: &Address, ends: Option<Id>) -> bool {
    kind == crate::Kind::Event && ends.is_none() && sender == receiver
}

//! Payloads: what an envelope carries, typed in process and JSON outside, and the traits that a stranger implements.

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// What an envelope is: an ask for an action, an ask for information, or a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Asks one actor to act.
    Command,
    /// States what happened.
    Event,
    /// Asks one actor for information.
    Query,
}

impl Kind {
    /// Whether an event must end this.
    pub fn is_ask(self) -> bool {
        self != Kind::Event
    }

    /// The word in the journal.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Command => "command",
            Kind::Event => "event",
            Kind::Query => "query",
        }
    }
}

/// A small typed struct with a stable dotted name. Anyone may add one, under a prefix of their own:
///
/// ```
/// use hermes_bus::{Ask, Event, EnvelopeFailed, Kind, Payload};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize)]
/// struct Count { by: u32 }
/// impl Payload for Count {
///     const NAME: &'static str = "shop.count";
///     const KIND: Kind = Kind::Command;
/// }
///
/// #[derive(Serialize, Deserialize)]
/// struct Counted { total: u32 }
/// impl Payload for Counted {
///     const NAME: &'static str = "shop.counted";
///     const KIND: Kind = Kind::Event;
/// }
/// impl Event for Counted {}
/// impl Ask for Count { type Reply = Counted; type Failure = EnvelopeFailed; }
/// ```
///
/// It must serialise to a JSON object (a struct with named fields, or `#[serde(transparent)]` over one).
pub trait Payload: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The dotted lower-case name, such as `tool.call`. A promise: it stands in journals.
    const NAME: &'static str;
    /// What an envelope with this payload is.
    const KIND: Kind;
    /// Whether it bypasses the journal: no sequence number, may be lost (`llm.delta`, `ask.abort`).
    const INTERIM: bool = false;

    /// Writes the JSON for the journal, which may refer to earlier records.
    ///
    /// # Errors
    /// When the payload has no JSON (a map with keys that are no strings, say).
    fn journal(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        serde_json::to_writer(out, self)
    }

    /// Writes the JSON for another process, which is complete.
    ///
    /// # Errors
    /// As [`Payload::journal`].
    fn wire(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        self.journal(out)
    }
}

/// A payload that states what happened ([`Kind::Event`]).
pub trait Event: Payload {}

/// A payload that asks ([`Kind::Command`] or [`Kind::Query`]) and the events that end it.
/// Besides these two, any ask may end in [`EnvelopeFailed`](crate::EnvelopeFailed).
pub trait Ask: Payload {
    /// The event that ends it well.
    type Reply: Event;
    /// The event that ends it badly.
    type Failure: Event;
}

/// The shadow of [`Payload`] for `dyn`: what the bus needs of any payload.
pub trait AnyPayload: Send + Sync + 'static {
    /// [`Payload::NAME`].
    fn name(&self) -> &str;
    /// [`Payload::KIND`].
    fn kind(&self) -> Kind;
    /// [`Payload::INTERIM`].
    fn is_interim(&self) -> bool;
    /// [`Payload::journal`].
    ///
    /// # Errors
    /// As there.
    fn write_journal(&self, out: &mut Vec<u8>) -> serde_json::Result<()>;
    /// [`Payload::wire`].
    ///
    /// # Errors
    /// As there.
    fn write_wire(&self, out: &mut Vec<u8>) -> serde_json::Result<()>;
    /// For the way back to the type.
    fn as_any(&self) -> &dyn Any;
}

impl<P: Payload> AnyPayload for P {
    fn name(&self) -> &str {
        P::NAME
    }
    fn kind(&self) -> Kind {
        P::KIND
    }
    fn is_interim(&self) -> bool {
        P::INTERIM
    }
    fn write_journal(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        self.journal(out)
    }
    fn write_wire(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        self.wire(out)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A payload as it stands in a journal or came over the network.
#[derive(Debug, Clone)]
pub struct RawPayload {
    /// The dotted name.
    pub name: Arc<str>,
    /// What the envelope is.
    pub kind: Kind,
    /// The JSON object.
    pub json: Box<RawValue>,
}

impl AnyPayload for RawPayload {
    fn name(&self) -> &str {
        &self.name
    }
    fn kind(&self) -> Kind {
        self.kind
    }
    fn is_interim(&self) -> bool {
        false
    }
    fn write_journal(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        out.extend_from_slice(self.json.get().as_bytes());
        Ok(())
    }
    fn write_wire(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        self.write_journal(out)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A payload of any type, shared.
#[derive(Clone)]
pub struct Body(Arc<dyn AnyPayload>);

impl Body {
    /// Wraps a payload.
    pub fn new(payload: impl AnyPayload) -> Self {
        Self(Arc::new(payload))
    }

    /// The payload's dotted name.
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// What an envelope with this payload is.
    pub fn kind(&self) -> Kind {
        self.0.kind()
    }

    /// Whether an envelope with this payload bypasses the journal.
    pub fn is_interim(&self) -> bool {
        self.0.is_interim()
    }

    /// Whether the payload is a `P` by its name, in whichever form.
    pub fn is<P: Payload>(&self) -> bool {
        self.name() == P::NAME
    }

    /// The payload as a `P`: the shared value if it travels typed, else decoded from its JSON.
    ///
    /// # Errors
    /// When the name is another, or the JSON does not have the shape of `P`.
    pub fn get<P: Payload>(&self) -> Result<Got<'_, P>, PayloadError> {
        let any = self.0.as_any();
        if let Some(payload) = any.downcast_ref::<P>() {
            return Ok(Got::Shared(payload));
        }
        let wrong = |why: String| PayloadError { wanted: P::NAME, found: self.name().to_owned(), why };
        match any.downcast_ref::<RawPayload>() {
            Some(raw) if self.is::<P>() => {
                serde_json::from_str(raw.json.get()).map(Got::Owned).map_err(|e| wrong(e.to_string()))
            }
            _ => Err(wrong("it is another payload".to_owned())),
        }
    }

    /// Appends the JSON for the journal.
    ///
    /// # Errors
    /// As [`Payload::journal`].
    pub fn write_journal(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        self.0.write_journal(out)
    }

    /// Appends the complete JSON for another process.
    ///
    /// # Errors
    /// As [`Payload::wire`].
    pub fn write_wire(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        self.0.write_wire(out)
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut json = Vec::new();
        match self.write_journal(&mut json) {
            Ok(()) => write!(f, "{} {}", self.name(), String::from_utf8_lossy(&json)),
            Err(e) => write!(f, "{} ({e})", self.name()),
        }
    }
}

/// A payload taken from a [`Body`]: shared, or decoded just now.
#[derive(Debug)]
pub enum Got<'a, P> {
    /// It travelled typed.
    Shared(&'a P),
    /// It came as JSON.
    Owned(P),
}

impl<P> Deref for Got<'_, P> {
    type Target = P;
    fn deref(&self) -> &P {
        match self {
            Got::Shared(payload) => payload,
            Got::Owned(payload) => payload,
        }
    }
}

/// A payload that is not of the wanted type.
#[derive(Debug, thiserror::Error)]
#[error("cannot read `{found}` as `{wanted}`: {why}")]
pub struct PayloadError {
    wanted: &'static str,
    found: String,
    why: String,
}

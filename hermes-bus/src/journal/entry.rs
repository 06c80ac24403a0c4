//! An entry: one line of a journal, parsed as far as the bus understands it, with its payload left as JSON.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{FORMAT, Journal, JournalError, Record, blob};
use crate::bodies::Bodies;
use crate::envelope::is_note;
use crate::{Address, Body, Envelope, Id, Kind, RawPayload, TraceId};

/// One parsed line. Unknown fields are ignored; what is missing or has the wrong shape is an error.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("required" = [
    "v", "seq", "ts", "id", "trace_id", "type", "name", "sender", "receiver", "parent_id", "payload",
]))]
pub struct Entry<'a> {
    /// The version of the format.
    pub v: u32,
    /// Its number.
    pub seq: u64,
    /// When it was numbered.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub ts: DateTime<Utc>,
    /// Its id.
    pub id: Id,
    /// Its trace.
    pub trace_id: TraceId,
    /// Command, event or query.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// The payload's name.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// Who sent it.
    pub sender: Address,
    /// To whom.
    pub receiver: Address,
    /// What made it happen.
    pub parent_id: Option<Id>,
    /// The ask that it ends.
    #[serde(default)]
    pub in_reply_to: Option<Id>,
    /// An end that came after another: never delivered.
    #[serde(default)]
    pub late: bool,
    /// The end of an ask whose body had begun.
    #[serde(default)]
    pub begun: bool,
    /// The tags of its trace.
    #[serde(default)]
    pub meta: Option<BTreeMap<String, String>>,
    /// The payload as it stands, blobs not looked up.
    #[serde(borrow)]
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub payload: &'a RawValue,
}

/// A line that is no entry.
#[derive(Debug, thiserror::Error)]
#[error("line {line:?} is no envelope: {source}")]
pub struct EntryError {
    line: String,
    source: serde_json::Error,
}

impl EntryError {
    /// `source` is what is wrong with `line`, of which the beginning is kept.
    pub(crate) fn new(line: &[u8], source: serde_json::Error) -> Self {
        let head = &line[..line.len().min(320)];
        Self { line: String::from_utf8_lossy(head).chars().take(80).collect(), source }
    }
}

impl<'a> Entry<'a> {
    /// Parses one line.
    ///
    /// # Errors
    /// When it is not JSON, or a field is missing or of the wrong shape.
    pub fn parse(record: &'a Record) -> Result<Self, EntryError> {
        serde_json::from_slice(&record.line).map_err(|source| EntryError::new(&record.line, source))
    }

    /// Whether this is an event to its own sender that ends nothing.
    pub fn is_note(&self) -> bool {
        is_note(self.kind, &self.sender, &self.receiver, self.in_reply_to)
    }

    /// The envelope that was delivered, its payload complete again: blobs are fetched from `journal`.
    ///
    /// # Errors
    /// When a blob is missing, or a newer format holds the line.
    pub fn envelope(&self, journal: &dyn Journal) -> Result<Envelope, JournalError> {
        if self.v > FORMAT {
            return Err(JournalError::Newer { location: journal.location(), found: self.v });
        }
        let json = blob::inline(self.payload, journal)?;
        let body = Body::new(RawPayload { name: Arc::from(&*self.name), kind: self.kind, json });
        let meta = self.meta.clone().map(Arc::new);
        let (sender, receiver) = (self.sender.clone(), self.receiver.clone());
        let Self { seq, ts: timestamp, id, trace_id, parent_id, in_reply_to, .. } = *self;
        let bodies = Bodies::default();
        Ok(Envelope {
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
        })
    }
}

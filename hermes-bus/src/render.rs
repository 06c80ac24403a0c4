//! Rendering: an envelope's JSON, made once, outside of the writer, but for what only the writer knows.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::value::to_raw_value;

use crate::journal::{Journal, JournalError, externalise};
use crate::{Body, Draft, Envelope, EnvelopeFailed, FailureKind, Id, RawPayload};

/// An envelope that lacks only its number and its time, and its line from `"id":` to the closing brace.
pub(crate) struct Rendered {
    pub envelope: Arc<Envelope>,
    /// The open ask that it works for.
    pub below: Option<Id>,
    /// Whether it is the last of its sender.
    pub closes: bool,
    pub expires_after: Option<Duration>,
    /// Interim envelopes have no line.
    pub tail: Option<Vec<u8>>,
    /// Why the ask ends at once.
    pub refused: Option<EnvelopeFailed>,
}

impl Rendered {
    pub(crate) fn new(draft: Draft, tail: Option<Vec<u8>>, refused: Option<EnvelopeFailed>) -> Self {
        let Draft { below, closes, expires_after, .. } = draft;
        Self { envelope: Arc::new(draft.into_envelope()), below, closes, expires_after, tail, refused }
    }
}

/// How long a line usually is at most, in bytes. (Just what a malloc gives from its fastest bins.)
const USUAL: usize = 1000;

/// Renders `draft`. Large strings are put into the journal's blobs.
pub(crate) fn render(
    mut draft: Draft,
    mut refused: Option<EnvelopeFailed>,
    journal: &dyn Journal,
) -> Result<Rendered, JournalError> {
    if is_interim(&draft) {
        return Ok(Rendered::new(draft, None, refused));
    }
    if !journal.keeps_lines() {
        return Ok(Rendered::new(draft, Some(Vec::new()), refused));
    }
    let mut out = Vec::with_capacity(USUAL);
    let start = match write_tail(&draft, &mut out) {
        Ok(start) => start,
        Err(why) => {
            let failed = refusal(&draft, &why);
            draft.body = stand_in(&draft, &failed).map_err(|e| unwritable(e, journal))?;
            refused = Some(failed);
            out.clear();
            write_tail(&draft, &mut out).map_err(|e| unwritable(e, journal))?
        }
    };
    externalise(&mut out, start, journal)?;
    out.push(b'}');
    Ok(Rendered::new(draft, Some(out), refused))
}

/// What asks and what ends an ask stands in the journal, whatever the payload says.
fn is_interim(draft: &Draft) -> bool {
    draft.body.is_interim() && !draft.body.kind().is_ask() && draft.in_reply_to.is_none()
}

fn refusal(draft: &Draft, why: &serde_json::Error) -> EnvelopeFailed {
    let why = format!("the payload `{}` cannot be written: {why}", draft.body.name());
    tracing::error!(sender = %draft.sender, receiver = %draft.receiver, why, "an envelope is refused");
    EnvelopeFailed::new(FailureKind::Unacceptable, why)
}

/// What is journaled for a payload that has no JSON object. A fault of one sender, or of another machine, must not
/// stop the runtime; and whoever waits for this end must get one.
fn stand_in(draft: &Draft, failed: &EnvelopeFailed) -> serde_json::Result<Body> {
    if draft.in_reply_to.is_some() {
        return Ok(Body::new(failed.clone()));
    }
    let json = to_raw_value(&serde_json::json!({ "unwritable": failed.message }))?;
    Ok(Body::new(RawPayload { name: Arc::from(draft.body.name()), kind: draft.body.kind(), json }))
}

fn unwritable(source: serde_json::Error, journal: &dyn Journal) -> JournalError {
    JournalError::Io { action: "write", location: journal.location(), source: source.into() }
}

/// Writes the line's tail without its last brace and gives where the payload starts.
fn write_tail(draft: &Draft, out: &mut Vec<u8>) -> serde_json::Result<usize> {
    id(out, b"\"id\":\"", |out| draft.id.write(out));
    id(out, b"\"trace_id\":\"", |out| draft.trace_id.write(out));
    field(out, b"\"type\":", draft.body.kind().as_str())?;
    field(out, b"\"name\":", draft.body.name())?;
    field(out, b"\"sender\":", draft.sender.as_str())?;
    field(out, b"\"receiver\":", draft.receiver.as_str())?;
    match draft.parent_id {
        Some(parent) => id(out, b"\"parent_id\":\"", |out| parent.write(out)),
        None => out.extend_from_slice(b"\"parent_id\":null,"),
    }
    if let Some(ask) = draft.in_reply_to {
        id(out, b"\"in_reply_to\":\"", |out| ask.write(out));
    }
    if let Some(meta) = &draft.meta {
        field(out, b"\"meta\":", &**meta)?;
    }
    payload(draft, out)
}

fn payload(draft: &Draft, out: &mut Vec<u8>) -> serde_json::Result<usize> {
    if draft.body.is_interim() && draft.in_reply_to.is_some() {
        return Err(serde::ser::Error::custom("what is interim can end nothing"));
    }
    out.extend_from_slice(b"\"payload\":");
    let start = out.len();
    draft.body.write_journal(out)?;
    if out.get(start) != Some(&b'{') {
        return Err(serde::ser::Error::custom("it must serialise to a JSON object"));
    }
    Ok(start)
}

/// Writes a field whose value needs no escapes.
fn id(out: &mut Vec<u8>, name: &[u8], value: impl FnOnce(&mut Vec<u8>)) {
    out.extend_from_slice(name);
    value(out);
    out.extend_from_slice(b"\",");
}

fn field<T: Serialize + ?Sized>(out: &mut Vec<u8>, name: &[u8], value: &T) -> serde_json::Result<()> {
    out.extend_from_slice(name);
    serde_json::to_writer(&mut *out, value)?;
    out.push(b',');
    Ok(())
}

//! The published protocol: the JSON Schemas of the envelope, of every payload, and of an agent's definition, made
//! from the types.

use hermes_bus::journal::Entry;
use hermes_bus::{AskAbort, EnvelopeFailed, Kind, Payload, TimerFired};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};

use super::{
    CallTool, CancelTask, LlmChat, LlmDelta, LlmFailed, LlmReplied, TaskCancelling, TaskFinished, TaskStart,
    ToolFailed, ToolProgress, ToolRejected, ToolReturned, ToolStarted,
};
use crate::definition::Definition;

/// One published format.
#[derive(Debug, Clone)]
pub struct Published {
    /// `envelope`, `definition`, or the name of a payload.
    pub name: &'static str,
    /// What an envelope with this payload is.
    pub kind: Option<Kind>,
    /// What is written, as a JSON Schema (2020-12). Readers must expect fields that it does not know, and in a journal, for
    /// any string over 32 KiB, the object `{"$blob": hash, "bytes": n, "head": "…"}` in its place.
    pub schema: Schema,
}

/// All formats that stand in journals or come over the bus.
///
/// ```
/// let published = hermes_actors::protocol::published();
/// let call = published.iter().find(|format| format.name == "tool.call").unwrap();
/// assert_eq!(call.schema.get("required").unwrap()[0], "call_id");
/// ```
pub fn published() -> Vec<Published> {
    vec![
        Published { name: "envelope", kind: None, schema: read::<Entry<'_>>() },
        Published { name: "definition", kind: None, schema: schema::<Definition>() },
        payload::<TaskStart>(),
        payload::<TaskFinished>(),
        payload::<CancelTask>(),
        payload::<TaskCancelling>(),
        payload::<LlmChat>(),
        payload::<LlmReplied>(),
        payload::<LlmFailed>(),
        payload::<LlmDelta>(),
        payload::<CallTool>(),
        payload::<ToolStarted>(),
        payload::<ToolProgress>(),
        payload::<ToolReturned>(),
        payload::<ToolFailed>(),
        payload::<ToolRejected>(),
        payload::<EnvelopeFailed>(),
        payload::<TimerFired>(),
        payload::<AskAbort>(),
    ]
}

fn payload<P: Payload + JsonSchema>() -> Published {
    Published { name: P::NAME, kind: Some(P::KIND), schema: schema::<P>() }
}

/// Of what is written by its type.
fn schema<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>()
}

/// Of what is written by hand, and read into this type.
fn read<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>()
}

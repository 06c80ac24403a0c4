//! The tool actor: runs the calls of one tool.

use std::sync::Arc;

use hermes_bus::{Actor, Body, Bus, Context, Draft, Envelope, Fault};
use serde_json::{Map, Value};

use crate::protocol::{CallTool, ToolFailed, ToolFailure, ToolFailureKind, ToolReturned, ToolStarted};
use crate::stats::Spent;
use crate::tool::{Tool, ToolContext, ToolError, ToolOutput, shown};

/// How deep a result may be nested. Readers of JSON stop at 128, and what stands around it counts.
const DEEPEST: usize = 100;

/// One tool of one agent.
pub(crate) struct ToolActor {
    tool: Arc<dyn Tool>,
}

impl ToolActor {
    pub(crate) fn new(tool: Arc<dyn Tool>) -> Self {
        Self { tool }
    }
}

impl Actor for ToolActor {
    fn handle(&mut self, envelope: Arc<Envelope>, context: &Context) -> Result<(), Fault> {
        let (call_id, arguments) = match envelope.get::<CallTool>() {
            Ok(call) => (call.call_id.clone(), call.arguments.clone()),
            Err(why) => {
                context.unacceptable(&envelope, &why.to_string());
                return Ok(());
            }
        };
        let named = call_id.clone();
        let body = run(self.tool.clone(), context.bus().clone(), envelope.clone(), call_id, arguments);
        context.run(&envelope, move |words| Body::new(panicked(named, words)), body);
        Ok(())
    }
}

/// The end of a call whose body panicked. The words are for the journal; to the model they say nothing.
fn panicked(call_id: String, words: &str) -> ToolFailed {
    let failed =
        ToolFailed::new(call_id, ToolFailureKind::Panicked, "the tool broke down: this is a bug in it");
    let error = ToolFailure { message: format!("the tool panicked: {words}"), ..failed.error };
    ToolFailed { error, ..failed }
}

/// Runs one call: its note first, so that no body runs of which the journal does not know.
async fn run(
    tool: Arc<dyn Tool>,
    bus: Bus,
    ask: Arc<Envelope>,
    call_id: String,
    arguments: Map<String, Value>,
) -> Option<Draft> {
    let me = ask.receiver.clone();
    let note = Draft::caused_by(&ask, me.clone(), me, ToolStarted { call_id: call_id.clone() });
    let started = note.id();
    if !bus.begin(&ask, note).await {
        return None;
    }
    let outcome = tool.call(arguments, ToolContext::new(call_id.as_str())).await;
    Some(end(&ask, call_id, outcome).with_parent(started))
}

/// A result as every reader of JSON takes it: one that is nested too deep is its text.
fn readable(result: Value) -> Value {
    if is_deeper(&result, DEEPEST) { Value::String(result.to_string()) } else { result }
}

fn is_deeper(value: &Value, levels: usize) -> bool {
    let below = |value: &Value| levels == 0 || is_deeper(value, levels - 1);
    match value {
        Value::Array(items) => items.iter().any(below),
        Value::Object(fields) => fields.values().any(below),
        _ => false,
    }
}

fn end(ask: &Envelope, call_id: String, outcome: Result<ToolOutput, ToolError>) -> Draft {
    let shown = shown(&outcome);
    match outcome {
        Ok(output) => Draft::ending(
            ask,
            ToolReturned { call_id, result: readable(output.result), shown, spent: Spent::default() },
        ),
        Err(error) => {
            let error = ToolFailure { kind: ToolFailureKind::Error, message: error.to_string() };
            Draft::ending(ask, ToolFailed { call_id, error, shown, spent: Spent::default() })
        }
    }
}

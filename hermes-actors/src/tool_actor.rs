//! The tool actor: runs the calls of one tool.

use std::sync::Arc;
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use hermes_bus::{Actor, Body, Bus, Context, Draft, Envelope, Fault, Id};
use serde_json::{Map, Value};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::definition::TOOL_TIMEOUT;
use crate::protocol::{CallTool, ToolFailed, ToolFailure, ToolFailureKind, ToolReturned, ToolStarted};
use crate::run_states::RunStates;
use crate::stats::Spent;
use crate::tool::{Declaration, Reporter, States, Tool, ToolContext, ToolError, ToolOutput, places, shown};

/// How deep a result may be nested. Readers of JSON stop at 128, and what stands around it counts.
const DEEPEST: usize = 100;

/// How long the first wait between two attempts is; each further one is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(250);

/// One tool of one agent.
#[derive(Clone)]
pub(crate) struct ToolActor {
    tool: Arc<dyn Tool>,
    timeout: Duration,
    retries: u32,
    /// Where not any number of calls may run at once.
    places: Option<Arc<Semaphore>>,
    /// What the agent, and those that it works for, were built with.
    states: States,
    runs: RunStates,
}

impl ToolActor {
    pub(crate) fn new(
        tool: Arc<dyn Tool>,
        declaration: &Declaration,
        states: States,
        runs: RunStates,
    ) -> Self {
        let places = |most| places(tool.identity(), &declaration.name, most);
        Self {
            timeout: declaration.timeout.unwrap_or(TOOL_TIMEOUT),
            retries: declaration.retries,
            places: declaration.max_concurrent.map(places),
            states,
            runs,
            tool,
        }
    }

    /// What the tool may know of the call that `ask` is. Its time runs from its sending, of which it was delivered at once
    /// or after a hold, which does not count.
    fn context_of(&self, call_id: &str, ask: &Arc<Envelope>, bus: &Bus) -> ToolContext {
        let states = match self.runs.of(ask.trace_id) {
            Some(run) => run.over(&self.states),
            None => self.states.clone(),
        };
        let (deadline, reporter) = (Instant::now() + self.timeout, Reporter::new(bus.clone(), ask));
        ToolContext::of_call(call_id, ask, deadline, states, reporter)
    }

    /// Waits for a place, in turn.
    async fn place(&self) -> Option<Arc<OwnedSemaphorePermit>> {
        let places = self.places.clone()?;
        // These places are never closed.
        places.acquire_owned().await.ok().map(Arc::new)
    }

    /// Runs the tool, once more after each failure that may pass, as often as it allows.
    async fn attempts(
        &self,
        arguments: Map<String, Value>,
        context: ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        if self.retries == 0 {
            // Not through the `Arc`: that would box its future a second time.
            return (*self.tool).call(arguments, context).await;
        }
        let waits =
            ExponentialBuilder::default().with_min_delay(FIRST_WAIT).with_max_times(self.retries as usize);
        let (mut attempt, all) = (1, self.retries + 1);
        let next = |error: &ToolError, wait: Duration| {
            attempt += 1;
            context.progress(format!("attempt {attempt} of {all} in {} ms: {error}", wait.as_millis()));
        };
        (|| (*self.tool).call(arguments.clone(), context.clone()))
            .retry(waits)
            .when(|error| !error.is_permanent())
            .notify(next)
            .await
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
        let of_call = self.context_of(&call_id, &envelope, context.bus());
        let note = started(&envelope, &call_id);
        let call =
            Call { actor: self.clone(), ask: envelope.clone(), note: note.id(), arguments, context: of_call };
        let panicked = move |words: &str| Body::new(panicked(call_id, words));
        if self.places.is_none() {
            context.run_noted(&envelope, note, panicked, call.run());
        } else {
            context.run(&envelope, panicked, call.run_in_turn(context.bus().clone(), note));
        }
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

/// The note that a call begins.
fn started(ask: &Arc<Envelope>, call_id: &str) -> Draft {
    let me = ask.receiver.clone();
    Draft::caused_by(ask, me.clone(), me, ToolStarted { call_id: call_id.to_owned() })
}

/// One call on its way. Its note comes first, so that no body runs of which the journal does not know.
struct Call {
    actor: ToolActor,
    ask: Arc<Envelope>,
    note: Id,
    arguments: Map<String, Value>,
    context: ToolContext,
}

impl Call {
    /// Waits for a place, then begins if it is still wanted.
    async fn run_in_turn(mut self, bus: Bus, note: Draft) -> Option<Draft> {
        self.context.place = self.actor.place().await;
        if bus.begin(&self.ask, note).await { Some(self.run().await) } else { None }
    }

    async fn run(self) -> Draft {
        let Self { actor, ask, note, arguments, context } = self;
        let call_id = context.call_id.clone();
        // Dropped before the tool is done, as on timeout and cancel, it says so to what does not see that by itself.
        let unfinished = context.cancel_token().clone().drop_guard();
        let outcome = actor.attempts(arguments, context).await;
        unfinished.disarm();
        end(&ask, call_id, outcome).with_parent(note)
    }
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
        Ok(ToolOutput { result, images, .. }) => {
            let (result, spent) = (readable(result), Spent::default());
            Draft::ending(ask, ToolReturned { call_id, result, shown, images, spent })
        }
        Err(error) => {
            let error = ToolFailure { kind: ToolFailureKind::Error, message: error.to_string() };
            Draft::ending(ask, ToolFailed { call_id, error, shown, spent: Spent::default() })
        }
    }
}

//! The sub-agent actor: an agent behind a tool. Each call is a task of its own in the same trace, under a numbered
//! address; only this actor ends the call, once, when that task has finished.

use std::collections::HashMap;
use std::sync::Arc;

use hermes_bus::{
    Actor, Address, AskAbort, Birth, Body, Context, Draft, Envelope, EnvelopeFailed, Event, Factory, Fault,
    Id, Payload, TraceId,
};

use crate::definition::Definition;
use crate::orchestrator::{OneTask, address_in};
use crate::protocol::{
    CallTool, CancelTask, End, Limits, MACHINE_VERSION, TaskFinished, TaskStart, ToolFailed, ToolFailureKind,
    ToolReturned,
};
use crate::stats::Spent;
use crate::tool::{ToolOutput, shown};

/// How deep agents may call agents.
const DEPTH: usize = 3;

/// Reads the task of a sub-agent out of a call's arguments; the words say why it cannot.
pub(crate) type ReadTask = Arc<dyn Fn(&CallTool) -> Result<String, String> + Send + Sync>;

/// What a sub-agent's tasks are made of.
#[derive(Clone)]
pub(crate) struct Employment {
    /// The segment of its scopes.
    pub name: String,
    pub definition: Arc<Definition>,
    pub definition_hash: hermes_bus::journal::BlobHash,
    pub limits: Limits,
    pub read_task: ReadTask,
}

impl Factory for Employment {
    type Actor = SubAgent;
    const REMEMBERS_TRACES: bool = true;

    fn make(&mut self, _birth: Birth, _context: &Context) -> Result<SubAgent, Fault> {
        Ok(SubAgent { employment: self.clone(), traces: HashMap::new() })
    }
}

/// One agent as a tool of another. What it knows of a trace is a fold over what was delivered to it there.
pub(crate) struct SubAgent {
    employment: Employment,
    traces: HashMap<TraceId, Calls>,
}

/// The calls in one trace.
#[derive(Default)]
struct Calls {
    /// How often each scope has asked.
    asked: HashMap<String, u32>,
    /// The calls under way, by the id of the `task.start` that works for them.
    under_way: HashMap<Id, Call>,
}

struct Call {
    ask: Arc<Envelope>,
    call_id: String,
    orchestrator: Address,
    start: Id,
}

impl Actor for SubAgent {
    fn handle(&mut self, envelope: Arc<Envelope>, context: &Context) -> Result<(), Fault> {
        match envelope.body.name() {
            CallTool::NAME => self.called(&envelope, context),
            AskAbort::NAME => self.aborted(&envelope, context),
            _ if envelope.in_reply_to.is_some() => self.ended(&envelope, context),
            other => context.unacceptable(&envelope, &format!("a sub-agent does not know `{other}`")),
        }
        Ok(())
    }

    fn trace_closed(&mut self, trace: TraceId) {
        self.traces.remove(&trace);
    }
}

impl SubAgent {
    fn called(&mut self, ask: &Arc<Envelope>, context: &Context) {
        let (call_id, task) = match ask.get::<CallTool>() {
            Ok(call) => (call.call_id.clone(), (self.employment.read_task)(&call)),
            Err(why) => return context.unacceptable(ask, &why.to_string()),
        };
        let scope = self.next_scope(ask);
        let depth =
            scope.split('/').filter(|segment| *segment != "step" && !segment.starts_with("step#")).count();
        let task = task.and_then(|task| {
            if depth <= DEPTH {
                Ok(task)
            } else {
                Err(format!("agents may call agents {DEPTH} deep; this would be deeper"))
            }
        });
        match task {
            Ok(task) => self.start(ask, call_id, &scope, task, context),
            Err(why) => {
                let failed = ToolFailed::new(call_id.as_str(), ToolFailureKind::Error, why);
                context.send(named_end(ask, ask, &call_id, failed));
            }
        }
    }

    /// The scope of the next call from the asker's scope: `researcher`, `researcher#2`, …
    fn next_scope(&mut self, ask: &Envelope) -> String {
        let parent = ask.sender.scope();
        let calls = self.traces.entry(ask.trace_id).or_default();
        let number = calls.asked.entry(parent.to_owned()).or_default();
        *number += 1;
        let name = &self.employment.name;
        let segment = if *number == 1 { name.clone() } else { format!("{name}#{number}") };
        Address::in_scope(parent, &segment).to_string()
    }

    fn start(&mut self, ask: &Arc<Envelope>, call_id: String, scope: &str, task: String, context: &Context) {
        let employment = &self.employment;
        let orchestrator = address_in(scope);
        let new = OneTask::new(ask.trace_id, employment.definition.clone());
        if let Err(why) = context.bus().place(new.place(), orchestrator.clone(), new) {
            let failed = ToolFailed::new(call_id.as_str(), ToolFailureKind::Error, why.to_string());
            return context.send(named_end(ask, ask, &call_id, failed));
        }
        let start = Id::named(ask.id, &ask.receiver, TaskStart::NAME, &call_id);
        let payload = TaskStart {
            history: None,
            task,
            limits: employment.limits,
            machine: MACHINE_VERSION,
            definition: employment.definition_hash,
        };
        let body = Body::new(payload);
        context.send(Draft::identified(start, ask, ask.receiver.clone(), orchestrator.clone(), body));
        let calls = self.traces.entry(ask.trace_id).or_default();
        calls.under_way.insert(start, Call { ask: ask.clone(), call_id, orchestrator, start });
    }

    /// The caller does not want the answer any more: its task is cancelled, and answers when that has finished.
    fn aborted(&mut self, abort: &Envelope, context: &Context) {
        let Ok(abort_of) = abort.get::<AskAbort>().map(|abort| abort.ask) else { return };
        let Some(calls) = self.traces.get(&abort.trace_id) else { return };
        let Some(call) = calls.under_way.values().find(|call| call.ask.id == abort_of) else { return };
        let me = &call.ask.receiver;
        let id = Id::named(call.start, me, CancelTask::NAME, &call.start.to_string());
        let cancel = Body::new(CancelTask {});
        let draft = Draft::identified(id, &call.ask, me.clone(), call.orchestrator.clone(), cancel);
        context.send(draft.with_parent(call.start).below(call.start));
    }

    fn ended(&mut self, end: &Envelope, context: &Context) {
        let Some(calls) = self.traces.get_mut(&end.trace_id) else { return };
        let Some(call) = end.in_reply_to.and_then(|start| calls.under_way.remove(&start)) else { return };
        let (ask, call_id) = (&call.ask, call.call_id.as_str());
        let spent = end.get::<TaskFinished>().map_or_else(|_| Spent::default(), |task| task.stats.spent());
        let draft = match report(end) {
            Ok(answer) => {
                let output = ToolOutput::text(answer);
                let result = output.result.clone();
                let shown = shown(&Ok(output));
                named_end(
                    ask,
                    end,
                    call_id,
                    ToolReturned { call_id: call_id.to_owned(), result, shown, images: Vec::new(), spent },
                )
            }
            Err((kind, message)) => {
                let failed = ToolFailed { spent, ..ToolFailed::new(call_id, kind, message) };
                named_end(ask, end, call_id, failed)
            }
        };
        context.send(draft);
    }
}

/// The end of `ask`, caused by `cause`, under its named id.
fn named_end<E: Event>(ask: &Envelope, cause: &Envelope, call_id: &str, event: E) -> Draft {
    let id = Id::named(ask.id, &ask.receiver, E::NAME, call_id);
    Draft::ending(ask, event).with_id(id).with_parent(cause.id)
}

/// What the caller is told of how the task ended: its answer, or why there is none and what was gathered.
fn report(end: &Envelope) -> Result<String, (ToolFailureKind, String)> {
    if end.body.is::<EnvelopeFailed>() {
        let why = end.get::<EnvelopeFailed>().map_or_else(|e| e.to_string(), |failed| failed.message.clone());
        return Err((ToolFailureKind::Error, format!("the agent could not work: {why}")));
    }
    let finished = end.get::<TaskFinished>().map_err(|why| (ToolFailureKind::Error, why.to_string()))?;
    match (finished.outcome, &finished.answer) {
        (End::Completed | End::MaxIterations, Some(answer)) => Ok(answer.clone()),
        (outcome, answer) => {
            let kind = match outcome {
                End::Cancelled => ToolFailureKind::Cancelled,
                End::Deadline => ToolFailureKind::Timeout,
                _ => ToolFailureKind::Error,
            };
            Err((kind, account(&finished, answer.as_deref())))
        }
    }
}

fn account(finished: &TaskFinished, answer: Option<&str>) -> String {
    let mut text = format!("the agent stopped without an answer ({})", finished.outcome.as_str());
    if let Some(failure) = &finished.failure {
        text.push_str(&format!(": {}", failure.message));
    }
    if let Some(answer) = answer {
        text.push_str(&format!("\nIt said: {answer}"));
    }
    for gathered in &finished.gathered {
        text.push_str(&format!("\nIt had gathered from {}: {}", gathered.tool, gathered.shown));
    }
    text
}

//! The orchestrator: the actor around one task. The machine decides; this sends.

use std::sync::Arc;
use std::time::Duration;

use hermes_bus::{
    Actor, Address, Birth, Body, Context, Envelope, Factory, Fault, Mark, Place, Step, TraceId,
};

use crate::definition::Definition;
use crate::protocol::{End, Failure, TaskFinished, TaskStart};
use crate::rebuild::rebuild_at;
use crate::stats::Stats;
use crate::task::{Effects, Task};

/// How long the receiver of an aborted ask has to end it.
const ABORT_GRACE: Duration = Duration::from_secs(5);

/// One task.
pub(crate) struct Orchestrator {
    task: Task,
}

/// Makes the orchestrator of one task, and makes it anew from the journal when it has died.
pub(crate) struct OneTask {
    trace: TraceId,
    definition: Arc<Definition>,
}

impl OneTask {
    /// Where and of what the orchestrator of one task is made.
    pub(crate) fn new(trace: TraceId, definition: Arc<Definition>) -> Self {
        Self { trace, definition }
    }

    /// The place where its address holds.
    pub(crate) fn place(&self) -> Place {
        Place::Trace(self.trace)
    }
}

impl Factory for OneTask {
    type Actor = Orchestrator;
    const REBUILDS: bool = true;

    fn make(&mut self, birth: Birth, context: &Context) -> Result<Orchestrator, Fault> {
        let me = context.address().clone();
        let Birth::Again { seq } = birth else {
            return Ok(Orchestrator { task: Task::new(me, self.definition.clone()) });
        };
        // All that was decided before the fault is on its way; only what the last envelope asks for is not.
        let journal = context.bus().journal();
        let (task, effects) = rebuild_at(&**journal, self.trace, &me, self.definition.clone(), seq)?;
        perform(context, self.trace, effects);
        Ok(Orchestrator { task })
    }

    fn lost(&self, ask: &Envelope, reason: &str) -> Option<Body> {
        if !ask.body.is::<TaskStart>() {
            return None;
        }
        let message = format!("the orchestrator of the task died: {reason}");
        Some(Body::new(TaskFinished {
            outcome: End::Failed,
            truncated: false,
            answer: None,
            failure: Some(Failure { kind: "died".to_owned(), message, endpoint: false }),
            gathered: Vec::new(),
            stats: Stats::default(),
            context: None,
        }))
    }
}

impl Actor for Orchestrator {
    fn handle(&mut self, envelope: Arc<Envelope>, context: &Context) -> Result<(), Fault> {
        // What crossed its last word is ended by the bus.
        if self.task.is_finished() {
            return Ok(());
        }
        let (seq, trace) = (envelope.seq, envelope.trace_id);
        let effects = self.task.on(&envelope);
        // Before anything is sent: whoever answers must find that nobody else holds what was asked.
        drop(envelope);
        if let (Some(tests), Some(machine)) = (context.bus().test_log(), self.task.id()) {
            tests.mark(Mark { machine, seq, fingerprint: self.task.fingerprint() });
        }
        perform(context, trace, effects);
        Ok(())
    }
}

/// Sends what the machine wants, as one step.
fn perform(context: &Context, trace: TraceId, effects: Effects) {
    let mut step = Step::from(effects.sends);
    for timer in effects.timers {
        step.arm(trace, timer.guards, timer.words, timer.after);
    }
    if !step.is_empty() {
        context.send(step);
    }
    for ask in effects.aborts {
        context.abort(trace, ask, ABORT_GRACE);
    }
}

/// The address of the orchestrator in a scope.
pub(crate) fn address_in(scope: &str) -> Address {
    Address::in_scope(scope, "orchestrator")
}

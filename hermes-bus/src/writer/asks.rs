//! Asks: how envelopes of one step are staged, and what an open ask gathers until it ends.

use tokio::sync::oneshot;

use super::open_ask::OpenAsk;
use super::{ActorId, Asker, Begun, Done, Target, Timer, Writer};
use crate::mailbox::caught;
use crate::render::Rendered;
use crate::{Address, EnvelopeFailed, FailureKind, Id, TraceId};

impl Writer {
    pub(super) fn step(
        &mut self,
        lines: Vec<Rendered>,
        timers: Vec<Timer>,
        mut asker: Asker,
        done: Option<oneshot::Sender<()>>,
    ) {
        // An actor whose address is gone has nothing to say any more.
        if let Asker::Actor(actor) = asker
            && self.routes.resident(actor).is_none()
        {
            return;
        }
        for line in lines {
            self.stage(line, &mut asker);
        }
        for timer in timers {
            self.arm(timer, &asker);
        }
        self.done.extend(done.map(Done::Journaled));
    }

    fn stage(&mut self, rendered: Rendered, asker: &mut Asker) {
        if rendered.envelope.body.kind().is_ask() {
            return self.stage_ask(rendered, asker);
        }
        match rendered.envelope.in_reply_to {
            Some(ask) => self.stage_end(rendered, ask, asker),
            None => self.stage_event(rendered),
        }
    }

    /// An event that ends nothing. A note, or one for nobody, is journaled all the same.
    fn stage_event(&mut self, rendered: Rendered) {
        let event = &rendered.envelope;
        let found = if event.is_note() { None } else { self.find(event.trace_id, &event.receiver) };
        self.push(rendered, false, false, found.map_or(Target::Nobody, Target::Actor));
    }

    fn stage_ask(&mut self, mut rendered: Rendered, asker: &mut Asker) {
        let (trace, id, expires) = (rendered.envelope.trace_id, rendered.envelope.id, rendered.expires_after);
        let found = self.find(trace, &rendered.envelope.receiver);
        let failed = rendered.refused.take().or_else(|| self.undelivered(&rendered, found));
        // An ask that fails at once is open for a moment all the same, so that all asks end in one way.
        let actor = found.unwrap_or(ActorId(0));
        let open = OpenAsk::new(&rendered, asker.for_one_ask(), actor);
        self.traces.entry(trace).or_default().open(open);
        self.open_asks += 1;
        let target = if failed.is_none() { Target::Actor(actor) } else { Target::Nobody };
        self.push(rendered, false, false, target);
        if let Some(failed) = failed {
            self.fail(trace, id, failed);
        } else if let Some(after) = expires {
            self.expire(trace, id, after);
        }
    }

    /// Why the ask cannot be delivered, if it cannot.
    fn undelivered(&self, rendered: &Rendered, found: Option<ActorId>) -> Option<EnvelopeFailed> {
        let ask = &rendered.envelope;
        let why = if rendered.below.is_some_and(|below| !self.is_open(ask.trace_id, below)) {
            "what it was asked for has ended".to_owned()
        } else if found.is_none() {
            format!("no actor has the address `{}`", ask.receiver)
        } else {
            return None;
        };
        Some(EnvelopeFailed::new(FailureKind::Undelivered, why))
    }

    pub(super) fn begin(&mut self, trace: TraceId, ask: Id, lines: Vec<Rendered>, then: Begun) {
        let Some(open) = self.traces.get_mut(&trace).and_then(|t| t.ask_mut(ask)) else {
            // What a body holds may panic when it is dropped.
            return drop(caught(|| drop(then)));
        };
        open.begun = true;
        for line in lines {
            self.push(line, false, false, Target::Nobody);
        }
        self.done.push(Done::Begun(then));
    }

    fn find(&self, trace: TraceId, address: &Address) -> Option<ActorId> {
        self.routes.find(self.traces.get(&trace), address)
    }

    fn is_open(&self, trace: TraceId, ask: Id) -> bool {
        self.traces.get(&trace).is_some_and(|t| t.ask(ask).is_some())
    }
}

impl Asker {
    /// The one who waits for one ask of a step: a waiter waits for the first.
    fn for_one_ask(&mut self) -> Self {
        match self {
            Self::Actor(actor) => Self::Actor(*actor),
            Self::Waiter(waiter) => Self::Waiter(waiter.take()),
            Self::Nobody => Self::Nobody,
        }
    }
}

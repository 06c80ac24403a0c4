//! The task machine: a pure fold over the envelopes that are delivered to it.
//!
//! `Task::on(envelope) -> effects` decides everything that an agent's task does. It knows no clock, no chance and no
//! I/O, and it never reads back what it sends: a live run, a resume and a replay are the same fold over the same
//! envelopes. What it sends has named ids, so that a record can be matched by equality of ids.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use hermes_bus::{Address, Body, Draft, Envelope, EnvelopeFailed, Event, FailureKind, Id, Payload};
use hermes_llm::{ChatMessage, Messages};

use crate::context::Context;
use crate::definition::Definition;
use crate::protocol::{End, Failure, Gathered, Limits, LlmChat, Purpose, TaskFinished, TaskStart};
use crate::stats::Stats;

use call::Call;
pub use effects::{Arm, Effects};
use inbox::Inbox;

mod call;
mod calling;
mod effects;
mod ending;
mod inbox;
mod thinking;

/// What the model is told when its turns are used up and it is asked to answer all the same.
const LAST_WORD: &str =
    "You have used all your turns. Answer now from what you have gathered; no tool can be called any more.";

/// One task of an agent.
#[derive(Debug)]
pub struct Task {
    me: Address,
    definition: Arc<Definition>,
    state: State,
}

/// All that the fold has made. What is hashed here is what a rebuild must agree about.
#[derive(Debug, Hash)]
struct State {
    start: Option<Start>,
    context: Context,
    /// Numbers every chat.
    chats: u32,
    phase: Phase,
    /// The calls of the current turn, in the order in which the model asked.
    calls: Vec<Call>,
    /// The outcome that the task is ending with, as soon as nothing is open any more.
    ending: Option<Verdict>,
    gathered: Vec<Gathered>,
    stats: Stats,
    /// How often the model was asked again for the same reason.
    resampled: u32,
    cut_off: u32,
}

/// What `task.start` said.
#[derive(Debug, Clone, Hash)]
struct Start {
    id: Id,
    asker: Address,
    limits: Limits,
    at_ms: i64,
}

/// What the task waits for.
#[derive(Debug, Clone, Hash)]
enum Phase {
    /// `task.start`.
    New,
    /// The end of a chat.
    Thinking(Chat),
    /// The ends of its calls.
    Calling,
    /// Nothing: it has finished.
    Finished,
}

/// The chat under way.
#[derive(Debug, Clone, Hash)]
struct Chat {
    id: Id,
    mode: Mode,
    /// When it was decided, in milliseconds of the journal's time.
    since_ms: i64,
}

/// Which kind of turn.
#[derive(Debug, Clone, Copy, PartialEq, Hash)]
enum Mode {
    /// A turn in which tools may be asked for.
    Tools,
    /// The answer at the limit, tools off.
    LastWord,
}

/// How the task ends, and what is said about it.
#[derive(Debug, Clone, Hash)]
struct Verdict {
    end: End,
    failure: Option<Failure>,
}

impl Task {
    /// A task of an agent with this definition, at this address, that has taken nothing yet.
    pub fn new(me: Address, definition: Arc<Definition>) -> Self {
        let context = Context::open(&definition.system_prompt);
        let state = State {
            start: None,
            context,
            chats: 0,
            phase: Phase::New,
            calls: Vec::new(),
            ending: None,
            gathered: Vec::new(),
            stats: Stats::default(),
            resampled: 0,
            cut_off: 0,
        };
        Self { me, definition, state }
    }

    /// Takes one envelope and says what to do. Once it has finished it says nothing more: the bus ends what still comes.
    pub fn on(&mut self, envelope: &Envelope) -> Effects {
        let mut effects = Effects::default();
        if self.is_finished() {
            return effects;
        }
        match inbox::read(envelope) {
            Inbox::Start(start) => self.start(envelope, &start, &mut effects),
            Inbox::Cancel => self.cancel(envelope, &mut effects),
            Inbox::Timer(timer) => self.timer(envelope, &timer, &mut effects),
            Inbox::Ended(ask) => self.ended(envelope, ask, &mut effects),
            Inbox::Unacceptable(why) => self.unacceptable(envelope, why, &mut effects),
        }
        effects
    }

    /// The id of its `task.start`, once it has one.
    pub fn id(&self) -> Option<Id> {
        self.state.start.as_ref().map(|start| start.id)
    }

    /// Whether it has said its last word.
    pub fn is_finished(&self) -> bool {
        matches!(self.state.phase, Phase::Finished)
    }

    /// The results that its tools gave so far.
    pub fn gathered(&self) -> &[Gathered] {
        &self.state.gathered
    }

    /// What it used so far.
    pub fn stats(&self) -> &Stats {
        &self.state.stats
    }

    /// What its model reads: the context so far.
    pub fn messages(&self) -> &Messages {
        self.state.context.messages()
    }

    /// Its context, for a task that goes on from it.
    pub(crate) fn context(&self) -> &Context {
        &self.state.context
    }

    /// A hash of everything that it has made of what it took. Two tasks that took the same envelopes agree in it.
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.state.hash(&mut hasher);
        hasher.finish()
    }

    fn start(&mut self, envelope: &Envelope, start: &TaskStart, effects: &mut Effects) {
        if self.state.start.is_some() {
            return self.unacceptable(envelope, "the task has started already".to_owned(), effects);
        }
        self.state.start = Some(Start {
            id: envelope.id,
            asker: envelope.sender.clone(),
            limits: start.limits,
            at_ms: envelope.timestamp.timestamp_millis(),
        });
        if let Some(deadline) = start.limits.deadline() {
            effects.arm(envelope.id, "deadline", deadline);
        }
        if let Some(past) = start.history.as_ref().and_then(|history| history.context.as_ref()) {
            self.state.context = Context::after(past.clone());
        }
        self.state.context.push_of(envelope.id, &ChatMessage::user(start.task.as_str()));
        self.think(envelope, Mode::Tools, effects);
    }

    /// An ask that this task does not know. An event that it does not know changes nothing.
    fn unacceptable(&mut self, envelope: &Envelope, why: String, effects: &mut Effects) {
        if envelope.body.kind().is_ask() {
            self.end_of(envelope, EnvelopeFailed::new(FailureKind::Unacceptable, why), effects);
        }
    }

    /// Asks the model for the next turn.
    fn think(&mut self, cause: &Envelope, mode: Mode, effects: &mut Effects) {
        self.state.stats.iterations += u32::from(mode == Mode::Tools);
        self.chat(cause, mode, None, effects);
    }

    /// Sends what is in the context.
    fn chat(&mut self, cause: &Envelope, mode: Mode, retry_of: Option<Id>, effects: &mut Effects) {
        self.state.chats += 1;
        let turn = self.state.chats;
        let context = &mut self.state.context;
        let chat = LlmChat {
            turn,
            purpose: Purpose::Turn,
            append: context.take_unsent(),
            digest: context.digest(),
            retry_of,
            settings: thinking::settings(mode, &self.definition),
            messages: context.messages().clone(),
        };
        let draft = self.draft(cause, self.me.sibling("llm"), &turn.to_string(), chat);
        self.state.phase = Phase::Thinking(Chat { id: draft.id(), mode, since_ms: millis(cause.timestamp) });
        effects.send(draft);
    }

    /// Writes the outcome.
    fn finish(&mut self, cause: &Envelope, verdict: Verdict, answer: Answer, effects: &mut Effects) {
        let Some(start) = self.state.start.clone() else { return };
        self.state.phase = Phase::Finished;
        let total = millis(cause.timestamp) - start.at_ms;
        self.state.stats.total_ms = u64::try_from(total).unwrap_or_default();
        let finished = TaskFinished {
            outcome: verdict.end,
            truncated: answer.truncated,
            answer: answer.text,
            failure: verdict.failure,
            gathered: self.state.gathered.clone(),
            stats: self.state.stats.clone(),
            context: Some(self.state.context.clone()),
        };
        let receiver = if start.asker == Address::user() { Address::finally() } else { start.asker };
        let draft = self.draft(cause, receiver, &start.id.to_string(), finished);
        effects.send(draft.in_reply_to(start.id).closing());
    }

    /// An envelope from this task with the id that `key` names.
    fn draft<P: Payload>(&self, cause: &Envelope, receiver: Address, key: &str, payload: P) -> Draft {
        let task = self.id().unwrap_or(cause.id);
        let id = Id::named(task, &self.me, P::NAME, key);
        let draft = Draft::identified(id, cause, self.me.clone(), receiver, Body::new(payload));
        draft.below(task)
    }

    /// Ends an ask that was delivered to this task.
    fn end_of(&mut self, ask: &Envelope, event: impl Event, effects: &mut Effects) {
        let draft = self.draft(ask, ask.sender.clone(), &ask.id.to_string(), event);
        effects.send(draft.in_reply_to(ask.id));
    }
}

/// What is said to the user at the end.
#[derive(Default)]
struct Answer {
    text: Option<String>,
    truncated: bool,
}

fn millis(time: DateTime<Utc>) -> i64 {
    time.timestamp_millis()
}

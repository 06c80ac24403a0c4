//! The simulated bus: what it holds open, what it delivers, and what it will not let pass.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use hermes_actors::protocol::{
    CallTool, CancelTask, Limits, LlmChat, MACHINE_VERSION, TaskFinished, TaskStart,
};
use hermes_actors::tool::{Declaration, Effect};
use hermes_actors::{AtLimit, Definition, Digest, Effects, End, Task, ToolDefinition, ToolKind};
use hermes_bus::journal::BlobHash;
use hermes_bus::{Address, Body, Draft, Envelope, Id, Kind, TimerFired, TraceId};
use hermes_llm::{ChatMessage, Role, Settings};
use serde_json::json;

use crate::chance::{Chance, raw};

/// No lawful run is longer than this many deliveries.
const LONGEST: usize = 2_000;

/// An ask that the task sent and whose end it has not read.
struct Asked {
    draft: Draft,
    /// Its end is in the mailbox.
    ended: bool,
    /// How often the task gave the end, or asked the receiver for it.
    endings: u32,
}

/// A task and all that is around it.
pub struct World {
    task: Task,
    chance: Chance,
    limits: Limits,
    trace: TraceId,
    now: DateTime<Utc>,
    /// The task's mailbox.
    mailbox: VecDeque<Envelope>,
    /// What the task asked for and has not read the end of, in its order.
    asked: Vec<Asked>,
    /// Asks to the task that it owes an end.
    owed: HashSet<Id>,
    timers: Vec<(Id, &'static str)>,
    /// All that was delivered, and what it made the task want.
    pub delivered: Vec<(Envelope, Effects, u64)>,
    sent: HashSet<Id>,
    /// The context as it was last sent.
    context: Vec<ChatMessage>,
    /// Whether that was at the limit, to get an answer without tools.
    last_word: bool,
}

fn definition(at_limit: AtLimit, system_prompt: &str) -> Arc<Definition> {
    let tool = |name: &str, effect, kind| {
        let declaration = Declaration::new(name, "", json!({"type": "object"})).effect(effect);
        let declaration =
            if name == "slow" { declaration.timeout(Duration::from_secs(1)) } else { declaration };
        ToolDefinition { declaration, kind }
    };
    Arc::new(Definition {
        name: "assistant".to_owned(),
        system_prompt: system_prompt.to_owned(),
        model: "none".to_owned(),
        settings: Settings::default(),
        tools: vec![
            tool("add", Effect::ReadOnly, ToolKind::Function),
            tool("slow", Effect::MayChange, ToolKind::Function),
            tool("wipe", Effect::Destructive, ToolKind::Function),
            tool("researcher", Effect::MayChange, ToolKind::Agent),
        ],
        at_limit,
    })
}

pub fn me() -> Address {
    Address::new("orchestrator").unwrap()
}

impl World {
    /// A task that chance has chosen, with its `task.start` in the mailbox.
    pub fn new(chance: Vec<u8>) -> (Self, Arc<Definition>) {
        let mut chance = Chance(chance.into_iter());
        let limits = Limits {
            max_iterations: 1 + chance.below(4) as u32,
            tools_at_once: chance.of(&[1, 2, 3, 8]),
            deadline_ms: chance.of(&[None, Some(5_000)]),
        };
        let definition =
            definition(chance.of(&[AtLimit::Answer, AtLimit::Stop]), chance.of(&["", "Be kind. 要友善"]));
        let start = TaskStart {
            history: None,
            task: "做！".to_owned(),
            limits,
            machine: MACHINE_VERSION,
            definition: BlobHash::of(b""),
        };
        let mut world = Self {
            task: Task::new(me(), definition.clone()),
            chance,
            limits,
            trace: TraceId::fresh(),
            now: DateTime::UNIX_EPOCH,
            mailbox: VecDeque::new(),
            asked: Vec::new(),
            owed: HashSet::new(),
            timers: Vec::new(),
            delivered: Vec::new(),
            sent: HashSet::new(),
            context: Vec::new(),
            last_word: false,
        };
        let start = world.envelope(Id::fresh(), Address::user(), None, Body::new(start));
        world.owed.insert(start.id);
        world.mailbox.push_back(start);
        (world, definition)
    }

    fn envelope(&self, id: Id, sender: Address, ends: Option<Id>, body: Body) -> Envelope {
        let draft = Draft::from_outside(self.trace, me(), body).with_id(id).sent_by(sender);
        let draft = ends.into_iter().fold(draft, Draft::in_reply_to);
        draft.delivered(0, self.now)
    }

    /// Goes on until the task has finished.
    pub fn run(&mut self) {
        while !self.task.is_finished() {
            assert!(self.delivered.len() < LONGEST, "it never ends");
            if self.chance.is_spent() || self.chance.below(3) > 0 {
                self.go_on();
            } else {
                self.disturb();
            }
        }
        self.finished();
    }

    /// Delivers something, or ends an open ask.
    fn go_on(&mut self) {
        let open = self.asked.iter().filter(|asked| !asked.ended).count();
        if open > 0 && (self.mailbox.is_empty() || self.chance.below(2) > 0) {
            let which = self.chance.below(open);
            return self.end_one(which);
        }
        assert!(!self.mailbox.is_empty(), "it waits for nothing");
        self.deliver();
    }

    fn deliver(&mut self) {
        let Some(mut envelope) = self.mailbox.pop_front() else { return };
        self.now += Duration::from_millis(self.chance.below(50) as u64);
        envelope.seq = self.delivered.len() as u64 + 1;
        if let Some(ask) = envelope.in_reply_to {
            self.asked.retain(|asked| asked.draft.id() != ask);
        }
        let effects = self.task.on(&envelope);
        self.accept(&effects);
        self.delivered.push((envelope, effects, self.task.fingerprint()));
    }

    /// What the bus does with the effects of one decision.
    fn accept(&mut self, effects: &Effects) {
        for draft in &effects.sends {
            assert!(self.sent.insert(draft.id()), "two envelopes of one id");
            assert_eq!((draft.sender(), draft.trace_id()), (&me(), self.trace));
            match (draft.ends(), draft.body().kind().is_ask()) {
                (None, true) => self.take_ask(draft),
                (Some(ask), false) => self.take_end(draft, ask),
                (None, false) => assert_eq!(draft.receiver(), &me(), "only notes end nothing"),
                (Some(_), true) => panic!("an ask ends nothing"),
            }
        }
        for ask in &effects.aborts {
            let asked = self.asked.iter_mut().find(|asked| asked.draft.id() == *ask).unwrap();
            asked.endings += 1;
            assert_eq!(asked.endings, 1, "the end of a call is asked for once");
            assert_eq!(asked.draft.receiver().as_str(), "tool.researcher", "only an agent ends its own call");
        }
        for timer in &effects.timers {
            let of_task = self.delivered.is_empty() && timer.words == "deadline";
            assert!(
                of_task || self.asked.iter().any(|asked| asked.draft.id() == timer.guards),
                "a timer guards an ask"
            );
            self.timers.push((timer.guards, timer.words));
        }
    }

    fn take_ask(&mut self, draft: &Draft) {
        if draft.body().is::<LlmChat>() {
            self.check_context(&draft.body().get::<LlmChat>().unwrap());
        }
        self.asked.push(Asked { draft: draft.clone(), ended: false, endings: 0 });
        let calls = self.asked.iter().filter(|asked| asked.draft.body().is::<CallTool>()).count();
        assert!(calls <= self.limits.tools_at_once as usize, "{calls} calls at once");
        assert!(calls == 0 || calls == self.asked.len(), "it thinks while tools run");
    }

    /// An end that the task gives: of an ask to it, or, in another's name, of one of its own.
    fn take_end(&mut self, draft: &Draft, ask: Id) {
        if let Ok(finished) = draft.body().get::<TaskFinished>() {
            assert!(self.asked.is_empty(), "it finished with {} asks open", self.asked.len());
            let ended_from_outside = matches!(finished.outcome, End::Cancelled | End::Deadline);
            assert!(
                !self.last_word || ended_from_outside || finished.outcome == End::MaxIterations,
                "{finished:?}"
            );
        }
        if self.owed.remove(&ask) {
            return;
        }
        let asked =
            self.asked.iter_mut().find(|asked| asked.draft.id() == ask).expect("it ends what it asked for");
        asked.endings += 1;
        assert_eq!(asked.endings, 1, "the end of an ask is given once");
        assert_ne!(asked.draft.receiver().as_str(), "tool.researcher", "only the agent ends its call");
        if !std::mem::replace(&mut asked.ended, true) {
            let end = self.envelope(draft.id(), me(), Some(ask), draft.body().clone());
            self.mailbox.push_back(end);
        }
    }

    /// Lets the receiver of an open ask end it.
    fn end_one(&mut self, which: usize) {
        let Some(at) = (0..self.asked.len()).filter(|at| !self.asked[*at].ended).nth(which) else { return };
        let (draft, was_aborted) = (self.asked[at].draft.clone(), self.asked[at].endings > 0);
        let body = match draft.body().get::<CallTool>() {
            Ok(call) => self.chance.tool_end(&call.call_id, was_aborted),
            Err(_) => self.chance.chat_end(draft.body().get::<LlmChat>().unwrap().turn),
        };
        self.asked[at].ended = true;
        let end = self.envelope(Id::fresh(), draft.receiver().clone(), Some(draft.id()), body);
        self.mailbox.push_back(end);
    }

    /// Something crosses what is going on.
    fn disturb(&mut self) {
        let (id, user) = (Id::fresh(), Address::user());
        let ask = |body| (id, Address::user(), None, body);
        let (id, sender, ends, body) = match self.chance.below(9) {
            0 if !self.timers.is_empty() => {
                let (guards, words) = self.timers[self.chance.below(self.timers.len())];
                let fired = TimerFired { guards, timer: words.to_owned() };
                (id, Address::clock(), None, Body::new(fired))
            }
            1 if self.chance.below(4) == 0 => ask(Body::new(CancelTask {})),
            2 => ask(raw("shop.count", Kind::Query, &json!({}))),
            3 => ask(raw("task.start", Kind::Command, &json!({}))),
            4 => (id, user, None, raw("shop.news", Kind::Event, &json!({}))),
            5 => (id, user, None, raw("timer.fired", Kind::Event, &json!({}))),
            // The end of something that it never asked for, or whose end it has read.
            6 => (id, user, Some(Id::fresh()), self.chance.strange()),
            7 if !self.delivered.is_empty() => {
                let (again, ..) = &self.delivered[self.chance.below(self.delivered.len())];
                if again.body.kind().is_ask() || self.is_asked(again.in_reply_to) {
                    return;
                }
                (again.id, again.sender.clone(), again.in_reply_to, again.body.clone())
            }
            _ => return,
        };
        // What comes from outside comes after `task.start`, which is the first that its address ever gets.
        if body.kind().is_ask() {
            self.owed.insert(id);
        }
        let crossing = self.envelope(id, sender, ends, body);
        self.mailbox.push_back(crossing);
    }

    fn is_asked(&self, ask: Option<Id>) -> bool {
        self.asked.iter().any(|asked| Some(asked.draft.id()) == ask)
    }

    /// A context that every provider accepts, named by its digest, and only longer than the one before.
    fn check_context(&mut self, chat: &LlmChat) {
        let messages = chat.messages.decode().unwrap();
        let digest = chat.messages.iter().fold(Digest::default(), |digest, message| digest.with(message));
        assert_eq!(digest, chat.digest);
        self.last_word = chat.settings.is_some();
        assert!(messages.starts_with(&self.context), "what was sent before is not rewritten");
        let mut rest = messages.iter();
        let mut last = Role::System;
        while let Some(message) = rest.next() {
            assert_ne!(message.role, Role::Tool, "a tool message without its call");
            for call in &message.tool_calls {
                let result = rest.next().expect("a call without its tool message");
                assert_eq!(
                    (result.role, result.tool_call_id.as_deref()),
                    (Role::Tool, Some(call.id.as_str()))
                );
                let text = result.text().unwrap();
                assert!(text.starts_with("OK: ") || text.starts_with("ERROR: "), "{text}");
            }
            last = if message.tool_calls.is_empty() { message.role } else { Role::Tool };
        }
        assert!(matches!(last, Role::User | Role::Tool), "the model's turn comes after another's: {last:?}");
        self.context = messages;
    }

    /// Once it has finished it has nothing to say to anyone, whatever comes.
    fn finished(&mut self) {
        while !self.mailbox.is_empty() {
            let Some(envelope) = self.mailbox.pop_front() else { return };
            let effects = self.task.on(&envelope);
            let said = effects.sends.len() + effects.timers.len() + effects.aborts.len();
            assert_eq!(said, 0, "{} after its end makes it say {effects:?}", envelope.body.name());
        }
    }
}

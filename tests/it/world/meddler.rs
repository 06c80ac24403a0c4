//! Meddlers: rules, gates and strangers that cross a run at the bus.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use hermes_actors::Runtime;
use hermes_actors::protocol::{CallTool, LlmChat, LlmFailed, LlmReplied, TaskStart, ToolReturned};
use hermes_bus::journal::Entry;
use hermes_bus::*;
use hermes_llm::ChatMessage;
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use super::scenario::{Fault, Meddling, Then};
use super::team::quiet_panic;

/// Set when the meddling is over: from then on everything must come to its end.
pub type Calm = Arc<AtomicBool>;

/// The rule of a fault, if it is one.
pub fn rule(fault: &Fault, calm: &Calm) -> Option<impl Rule + use<>> {
    let Fault::Meddle { name, first, times, how } = *fault else { return None };
    let (seen, calm) = (AtomicU64::new(0), calm.clone());
    Some(move |draft: &Draft| {
        if draft.body().name() != name || calm.load(Ordering::Relaxed) {
            return Verdict::Pass;
        }
        let at = seen.fetch_add(1, Ordering::Relaxed);
        if at < first || at >= first + times { Verdict::Pass } else { verdict(how, draft) }
    })
}

fn verdict(how: Meddling, draft: &Draft) -> Verdict {
    let body = draft.body().clone();
    // Whoever is outside is not to be killed: that is the test itself.
    let outside = *draft.sender() == Address::user() || *draft.receiver() == Address::finally();
    match how {
        Meddling::Reject => Verdict::Reject("as the scenario says".to_owned()),
        Meddling::Replace => other(draft).map_or(Verdict::Pass, Verdict::Replace),
        Meddling::KillReader if *draft.receiver() != Address::finally() => {
            Verdict::Replace(Body::new(Deadly { body, to: To::Read }))
        }
        Meddling::KillWriter if !outside => Verdict::Replace(Body::new(Deadly { body, to: To::Write })),
        Meddling::RulePanics => quiet_panic("the rule broke down"),
        Meddling::KillReader | Meddling::KillWriter => Verdict::Pass,
    }
}

/// Another payload of the same name.
fn other(draft: &Draft) -> Option<Body> {
    if let Ok(start) = draft.get::<TaskStart>() {
        return Some(Body::new(TaskStart { task: "something else".to_owned(), ..start.clone() }));
    }
    if let Ok(call) = draft.get::<CallTool>() {
        let arguments = serde_json::Map::from_iter([("after".to_owned(), 5.into())]);
        return Some(Body::new(CallTool { arguments, ..call.clone() }));
    }
    if let Ok(reply) = draft.get::<LlmReplied>() {
        return Some(Body::new(LlmReplied { message: ChatMessage::assistant("改过了"), ..reply.clone() }));
    }
    if let Ok(failed) = draft.get::<LlmFailed>() {
        return Some(Body::new(LlmFailed { message: "redacted".to_owned(), ..failed.clone() }));
    }
    let returned = draft.get::<ToolReturned>().ok()?;
    Some(Body::new(ToolReturned { shown: "OK: redacted".to_owned(), ..returned.clone() }))
}

/// A payload that kills whoever does this with it.
struct Deadly {
    body: Body,
    to: To,
}

#[derive(PartialEq)]
enum To {
    Read,
    Write,
}

impl AnyPayload for Deadly {
    fn name(&self) -> &str {
        self.body.name()
    }
    fn kind(&self) -> Kind {
        self.body.kind()
    }
    fn is_interim(&self) -> bool {
        self.body.is_interim()
    }
    fn write_journal(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        if self.to == To::Write {
            quiet_panic("who writes this dies");
        }
        self.body.write_journal(out)
    }
    fn write_wire(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        self.write_journal(out)
    }
    fn as_any(&self) -> &dyn Any {
        quiet_panic("who reads this dies")
    }
}

/// Holds what the fault says, until the runtime stops.
pub async fn hold(runtime: Runtime, every: u64, time: u64, then: Then, calm: Calm) {
    let quiet = calm.clone();
    let mut gate = runtime.gate(move |envelope| envelope.seq % every == 0 && !quiet.load(Ordering::Relaxed));
    drop(runtime);
    while let Some(held) = gate.next().await {
        sleep(Duration::from_millis(time)).await;
        match then {
            Then::Reject if !calm.load(Ordering::Relaxed) => held.reject("as the scenario says"),
            Then::Reject | Then::Release => held.release(),
            Then::DropGate => return,
        }
    }
}

/// Sends ends that are not its own: second ones, or the first ones.
pub async fn end(runtime: Runtime, fault: Fault, calm: Calm) {
    let (mut observer, journal, bus) =
        (runtime.observe_from(0), runtime.journal().clone(), runtime.bus().clone());
    drop(runtime);
    let mut count = 0;
    while let Ok(Some(record)) = observer.next().await {
        let entry = Entry::parse(&record).unwrap();
        let draft = match (&fault, entry.in_reply_to) {
            (Fault::EndAgain { .. }, Some(ask)) if !entry.late => {
                let again = entry.envelope(&*journal).unwrap();
                let draft = Draft::from_outside(entry.trace_id, entry.receiver.clone(), again.body);
                draft.with_parent(ask).in_reply_to(ask)
            }
            // What is asked of a task, only the task and the bus may end: a rebuild takes it that the task has read it.
            (Fault::EndFirst { .. }, None) if matches!(&*entry.name, LlmChat::NAME | CallTool::NAME) => {
                let failed = EnvelopeFailed::new(FailureKind::Expired, "somebody ended it");
                let draft = Draft::from_user(entry.trace_id, entry.sender.clone(), failed);
                draft.with_parent(entry.id).in_reply_to(entry.id)
            }
            _ => continue,
        };
        count += 1;
        let (Fault::EndAgain { every } | Fault::EndFirst { every, .. }) = fault else { return };
        if count % every == 0 && !calm.load(Ordering::Relaxed) {
            if let Fault::EndFirst { after, .. } = fault {
                sleep(Duration::from_millis(after)).await;
            }
            bus.send(draft);
        }
    }
}

/// What no actor of ours knows.
#[derive(Serialize, Deserialize)]
pub struct Ping {}
impl Payload for Ping {
    const NAME: &'static str = "world.ping";
    const KIND: Kind = Kind::Query;
}
impl Event for Pong {}
impl Ask for Ping {
    type Reply = Pong;
    type Failure = EnvelopeFailed;
}

/// What nobody answers.
#[derive(Serialize, Deserialize)]
pub struct Pong {}
impl Payload for Pong {
    const NAME: &'static str = "world.pong";
    const KIND: Kind = Kind::Event;
}

/// Asks the first task that it sees what no task knows.
pub async fn stray(runtime: Runtime, at: u64) {
    let (mut observer, bus) = (runtime.observe_from(0), runtime.bus().clone());
    drop(runtime);
    let Ok(Some(record)) = observer.next().await else { return };
    sleep(Duration::from_millis(at)).await;
    let entry = Entry::parse(&record).unwrap();
    let answer = bus.ask(entry.trace_id, entry.receiver.clone(), Ping {}).await;
    assert!(matches!(answer, Err(AskError::Undone(..) | AskError::Stopped(_))), "a task answered a ping");
}

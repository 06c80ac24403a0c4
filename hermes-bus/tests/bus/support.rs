//! What the tests share: a tiny vocabulary, actors from closures, and a journal to read.

use std::collections::HashMap;
use std::sync::Arc;

use hermes_bus::journal::{Entry, Journal};
use hermes_bus::*;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

macro_rules! payload {
    ($(#[$doc:meta])* $type:ident, $name:literal, $kind:ident $(, $interim:ident)?) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        pub struct $type {
            pub what: String,
        }
        impl Payload for $type {
            const NAME: &'static str = $name;
            const KIND: Kind = Kind::$kind;
            $(const INTERIM: bool = stringify!($interim).len() > 0;)?
        }
        impl From<&str> for $type {
            fn from(what: &str) -> Self {
                Self { what: what.to_owned() }
            }
        }
    };
}

payload!(/// A command.
    Do, "test.do", Command);
payload!(/// A command for whose end nobody waits.
    Tell, "test.tell", Command);
payload!(/// The end of a [`Do`].
    Done, "test.done", Event);
payload!(/// Another end of it.
    Refused, "test.refused", Event);
payload!(/// An event that ends nothing.
    News, "test.news", Event);
payload!(/// An event that bypasses the journal.
    Delta, "test.delta", Event, interim);

impl Event for Done {}
impl Event for Refused {}
impl Event for News {}
impl Event for Delta {}
impl Ask for Do {
    type Reply = Done;
    type Failure = Refused;
}

/// A `test.do` with these words.
pub fn work(what: impl Into<String>) -> Do {
    Do { what: what.into() }
}

/// A `test.done` with these words.
pub fn done(what: impl Into<String>) -> Done {
    Done { what: what.into() }
}

/// An address that is known to be lawful.
pub fn at(text: &str) -> Address {
    Address::new(text).unwrap()
}

/// What an envelope says, if it is a [`Do`], [`Done`], [`News`] or [`Delta`], else its name.
pub fn said(envelope: &Envelope) -> String {
    let body = &envelope.body;
    let mut json = Vec::new();
    body.write_wire(&mut json).unwrap();
    let value: serde_json::Value = serde_json::from_slice(&json).unwrap();
    value["what"].as_str().map_or_else(|| body.name().to_owned(), str::to_owned)
}

/// An actor that does what a closure says.
pub struct Does<F>(F);

impl<F> Actor for Does<F>
where
    F: Fn(Arc<Envelope>, &Context) -> Result<(), Fault> + Send + 'static,
{
    fn handle(&mut self, envelope: Arc<Envelope>, context: &Context) -> Result<(), Fault> {
        (self.0)(envelope, context)
    }
}

/// Makes actors that do what `act` says and never fail.
pub fn does(act: impl Fn(Arc<Envelope>, &Context) + Clone + Send + 'static) -> impl Factory {
    may_fail(move |envelope, context| {
        act(envelope, context);
        Ok(())
    })
}

/// The same, where `act` may fail.
pub fn may_fail(
    act: impl Fn(Arc<Envelope>, &Context) -> Result<(), Fault> + Clone + Send + 'static,
) -> impl Factory {
    move || Does(act.clone())
}

/// Answers every ask with its own words.
pub fn echo() -> impl Factory {
    does(|envelope, context| {
        if envelope.body.kind().is_ask() {
            context.reply(&envelope, done(said(&envelope)));
        }
    })
}

/// Hands out what it gets, and answers nothing.
pub fn recorder() -> (impl Factory, mpsc::UnboundedReceiver<Arc<Envelope>>) {
    let (to, got) = mpsc::unbounded_channel();
    (does(move |envelope, _| to.send(envelope).unwrap_or_default()), got)
}

/// Asks `receiver` for each `test.tell` it gets, in the same words, and hands out all else.
pub fn asks(receiver: &str) -> (impl Factory, mpsc::UnboundedReceiver<Arc<Envelope>>) {
    let (to, got) = mpsc::unbounded_channel();
    let receiver = at(receiver);
    let factory = does(move |envelope, context| match envelope.get::<Tell>() {
        Ok(told) => context.ask(&envelope, receiver.clone(), work(&told.what)),
        Err(_) => to.send(envelope).unwrap_or_default(),
    });
    (factory, got)
}

/// Sends `test.tell` from outside.
pub fn tell(runtime: &Runtime, trace: TraceId, receiver: &str, what: &str) {
    runtime.bus().send(Draft::from_user(trace, at(receiver), Tell::from(what)));
}

/// Sends the event `test.news` from outside, caused by an ask of the trace.
pub fn news(runtime: &Runtime, trace: TraceId, cause: Id, receiver: &str, what: &str) {
    runtime.bus().send(Draft::from_user(trace, at(receiver), News::from(what)).with_parent(cause));
}

/// Asks from outside.
pub fn ask(runtime: &Runtime, trace: TraceId, receiver: &str, what: &str) -> Pending {
    runtime.bus().request(Draft::from_user(trace, at(receiver), work(what)))
}

/// Returns when everything that was sent before is journaled and in the mailboxes.
pub async fn settled(runtime: &Runtime) {
    runtime.bus().commit(Step::new()).await.unwrap();
}

/// Why an ask was ended by the bus.
pub async fn failure(pending: &mut Pending) -> (FailureKind, String) {
    let end = pending.end().await.unwrap();
    let failed = end.get::<EnvelopeFailed>().unwrap();
    (failed.kind, failed.message.clone())
}

/// The journal's lines, ids and traces numbered in the order in which they appear, times left away.
pub fn lines(runtime: &Runtime) -> String {
    let (mut text, mut known) = (String::new(), HashMap::new());
    for record in read_all(&**runtime.journal()).unwrap() {
        let mut line = String::from_utf8(record.line.to_vec()).unwrap();
        let entry = Entry::parse(&record).unwrap();
        line = line.replace(&format!("\"ts\":\"{}\",", ts(&line)), "");
        for (prefix, id) in [("t", entry.trace_id.to_string()), ("e", entry.id.to_string())] {
            number(&mut known, prefix, id);
        }
        for (id, name) in &known {
            line = line.replace(id, name);
        }
        text += &(line + "\n");
    }
    text
}

fn ts(line: &str) -> String {
    serde_json::from_str::<serde_json::Value>(line).unwrap()["ts"].as_str().unwrap().to_owned()
}

fn number(known: &mut HashMap<String, String>, prefix: &str, id: String) {
    let next = known.values().filter(|name| name.starts_with(prefix)).count() + 1;
    known.entry(id).or_insert_with(|| format!("{prefix}{next}"));
}

/// The journal as a person would tell it: `e2 greeter -> user: test.done hi (ends e1)`.
pub fn flow(runtime: &Runtime) -> String {
    flow_of(&**runtime.journal())
}

/// The same of any journal.
pub fn flow_of(journal: &dyn Journal) -> String {
    let (mut text, mut known) = (String::new(), HashMap::new());
    for (n, record) in read_all(journal).unwrap().iter().enumerate() {
        let entry = Entry::parse(record).unwrap();
        known.insert(entry.id, n + 1);
        text += &format!("e{} {} -> {}: {}", n + 1, entry.sender, entry.receiver, entry.name);
        text += &format!(" {}", words(&entry));
        if let Some(ask) = entry.in_reply_to {
            text += &format!(" (ends e{})", known[&ask]);
        }
        text += if entry.begun { " begun" } else { "" };
        text += if entry.late { " late" } else { "" };
        text += "\n";
    }
    text
}

fn words(entry: &Entry<'_>) -> String {
    let payload: serde_json::Value = serde_json::from_str(entry.payload.get()).unwrap();
    let texts = payload.as_object().unwrap().values().filter_map(|value| value.as_str());
    texts.filter(|text| text.parse::<Id>().is_err()).collect::<Vec<_>>().join(": ")
}

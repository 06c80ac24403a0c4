//! What one hop costs: a one-way envelope and an ask with its reply, beside ractor's cast and call in the same run.
//! Only the ratios count, so all ways take turns and a median of each is printed, with its ratio to ractor's.

#![allow(clippy::unwrap_used, missing_docs)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hermes_bus::journal::*;
use hermes_bus::*;
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

#[derive(Serialize, Deserialize)]
struct Work {
    text: String,
}
impl Payload for Work {
    const NAME: &'static str = "bench.work";
    const KIND: Kind = Kind::Command;
}
impl Ask for Work {
    type Reply = Worked;
    type Failure = EnvelopeFailed;
}

#[derive(Serialize, Deserialize)]
struct Told {
    text: String,
    /// Travels in the process only: counts what has arrived.
    #[serde(skip)]
    arrived: Option<Arc<Semaphore>>,
}
impl Payload for Told {
    const NAME: &'static str = "bench.told";
    const KIND: Kind = Kind::Event;
}

#[derive(Serialize, Deserialize)]
struct Worked {
    text: String,
}
impl Payload for Worked {
    const NAME: &'static str = "bench.worked";
    const KIND: Kind = Kind::Event;
}
impl Event for Worked {}

/// As [`Told`], but it bypasses the journal.
#[derive(Serialize, Deserialize)]
struct Hint {
    #[serde(skip)]
    arrived: Option<Arc<Semaphore>>,
}
impl Payload for Hint {
    const NAME: &'static str = "bench.hint.delta";
    const KIND: Kind = Kind::Event;
    const INTERIM: bool = true;
}

/// A journal that only numbers and keeps nothing.
#[derive(Default)]
struct Off(AtomicU64);

impl Journal for Off {
    fn append(&self, batch: &mut Batch) -> Result<(), JournalError> {
        batch.number(self.0.fetch_add(batch.len() as u64, Ordering::Relaxed) + 1);
        Ok(())
    }
    fn keeps_lines(&self) -> bool {
        false
    }
    fn read(&self, _: u64, _: usize) -> Result<Vec<Record>, JournalError> {
        Ok(Vec::new())
    }
    fn last(&self) -> Result<u64, JournalError> {
        Ok(self.0.load(Ordering::Relaxed))
    }
    fn put_blob(&self, bytes: &[u8]) -> Result<BlobHash, JournalError> {
        Ok(BlobHash::of(bytes))
    }
    fn blob(&self, hash: &BlobHash) -> Result<bytes::Bytes, JournalError> {
        Err(JournalError::NoBlob { location: self.location(), hash: *hash })
    }
    fn flush(&self) -> Result<(), JournalError> {
        Ok(())
    }
    fn location(&self) -> String {
        "off".to_owned()
    }
}

/// The actor on the bus: counts what it is told, answers what it is asked.
struct Worker;

impl Actor for Worker {
    fn handle(&mut self, envelope: Arc<Envelope>, context: &Context) -> Result<(), Fault> {
        if let Ok(told) = envelope.get::<Told>() {
            told.arrived.as_ref().unwrap().add_permits(1);
        } else if let Ok(hint) = envelope.get::<Hint>() {
            hint.arrived.as_ref().unwrap().add_permits(1);
        } else {
            context.reply(&envelope, Worked { text: "done".to_owned() });
        }
        Ok(())
    }
}

/// The same as a plain ractor actor.
struct Plain;

enum Message {
    Told(Arc<Told>),
    Work(Arc<Work>, ractor::RpcReplyPort<Arc<Worked>>),
}

impl ractor::Actor for Plain {
    type Msg = Message;
    type State = ();
    type Arguments = ();
    async fn pre_start(
        &self,
        _: ractor::ActorRef<Message>,
        (): (),
    ) -> Result<(), ractor::ActorProcessingErr> {
        Ok(())
    }
    async fn handle(
        &self,
        _: ractor::ActorRef<Message>,
        message: Message,
        (): &mut (),
    ) -> Result<(), ractor::ActorProcessingErr> {
        match message {
            Message::Told(told) => told.arrived.as_ref().unwrap().add_permits(1),
            Message::Work(_work, reply) => reply.send(Arc::new(Worked { text: "done".to_owned() }))?,
        }
        Ok(())
    }
}

/// One way to pass messages: `rounds` times, `at_once` of them are sent, then all are waited for.
#[derive(Clone)]
enum Way {
    Ractor(ractor::ActorRef<Message>),
    Hermes(Runtime),
    /// The bus without JSON and journal.
    Interim(Runtime),
}

const TEXT: &str = "北京今天天气怎么样？可以出门吗？";

impl Way {
    async fn one_way(self, rounds: u64, at_once: u32) -> Duration {
        let arrived = Arc::new(Semaphore::new(0));
        let told = Told { text: TEXT.to_owned(), arrived: Some(arrived.clone()) };
        let send: Box<dyn Fn() + Send> = match self {
            Way::Ractor(actor) => {
                let told = Arc::new(told);
                Box::new(move || actor.cast(Message::Told(told.clone())).unwrap())
            }
            Way::Hermes(runtime) => told_by(runtime, Body::new(told)),
            Way::Interim(runtime) => told_by(runtime, Body::new(Hint { arrived: told.arrived })),
        };
        let start = Instant::now();
        for _ in 0..rounds {
            (0..at_once).for_each(|_| send());
            arrived.acquire_many(at_once).await.unwrap().forget();
        }
        start.elapsed()
    }

    async fn ask(self, rounds: u64, at_once: u32) -> Duration {
        match self {
            Way::Ractor(actor) => ractor_calls(&actor, rounds, at_once).await,
            Way::Hermes(runtime) | Way::Interim(runtime) => hermes_asks(&runtime, rounds, at_once).await,
        }
    }
}

/// Sends the same payload again and again.
fn told_by(runtime: Runtime, body: Body) -> Box<dyn Fn() + Send> {
    let (trace, worker) = (TraceId::fresh(), Address::new("worker").unwrap());
    Box::new(move || runtime.bus().send(Draft::from_outside(trace, worker.clone(), body.clone())))
}

async fn ractor_calls(actor: &ractor::ActorRef<Message>, rounds: u64, at_once: u32) -> Duration {
    let work = Arc::new(Work { text: TEXT.to_owned() });
    let start = Instant::now();
    for _ in 0..rounds {
        let calls = (0..at_once).map(|_| {
            let (reply, replied) = ractor::concurrency::oneshot();
            actor.cast(Message::Work(work.clone(), reply.into())).unwrap();
            replied
        });
        for replied in calls.collect::<Vec<_>>() {
            assert_eq!(replied.await.unwrap().text, "done");
        }
    }
    start.elapsed()
}

async fn hermes_asks(runtime: &Runtime, rounds: u64, at_once: u32) -> Duration {
    let (body, worker) = (Body::new(Work { text: TEXT.to_owned() }), Address::new("worker").unwrap());
    let start = Instant::now();
    for _ in 0..rounds {
        let asks = (0..at_once).map(|_| {
            runtime.bus().request(Draft::from_outside(TraceId::fresh(), worker.clone(), body.clone()))
        });
        for mut ask in asks.collect::<Vec<_>>() {
            assert_eq!(ask.end().await.unwrap().get::<Worked>().unwrap().text, "done");
        }
    }
    start.elapsed()
}

/// Made anew for each figure, so that no journal grows over all of them.
async fn way(name: &str, directory: &std::path::Path) -> Way {
    let journal: Arc<dyn Journal> = match name {
        "ractor" => return Way::Ractor(ractor::Actor::spawn(None, Plain, ()).await.unwrap().0),
        "memory" => Arc::new(MemoryJournal::new()),
        "file" => FileJournal::open(directory.join("hop.jsonl"), Durability::Process).unwrap(),
        _ => Arc::new(Off::default()),
    };
    let runtime = Runtime::builder(journal).start();
    runtime.register(Place::Runtime, Address::new("worker").unwrap(), || Worker).await.unwrap();
    if name == "interim" { Way::Interim(runtime) } else { Way::Hermes(runtime) }
}

/// How often each way has its turn.
const TURNS: usize = 15;

/// How many messages a turn passes.
const MESSAGES: u32 = 20_000;

#[derive(Clone, Copy)]
enum Hop {
    OneWay,
    Ask,
}

/// Lets all ways pass messages in turn; gives the median time of one message for each, in µs.
async fn medians(hop: Hop, ways: &[&str], at_once: u32, directory: &std::path::Path) -> Vec<f64> {
    let mut times = vec![Vec::new(); ways.len()];
    for _ in 0..TURNS {
        for (name, times) in ways.iter().zip(&mut times) {
            let (way, rounds) = (way(name, directory).await, MESSAGES / at_once);
            let passed = match hop {
                Hop::OneWay => tokio::spawn(way.one_way(rounds.into(), at_once)),
                Hop::Ask => tokio::spawn(way.ask(rounds.into(), at_once)),
            };
            times.push(passed.await.unwrap().as_secs_f64() * 1e6 / f64::from(rounds * at_once));
        }
    }
    let median = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    times.into_iter().map(median).collect()
}

fn main() {
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let one_way = ("one way", Hop::OneWay, &["ractor", "interim", "off", "memory", "file"][..]);
    let ask = ("ask and reply", Hop::Ask, &["ractor", "off", "memory", "file"][..]);
    for at_once in [1, 100] {
        for (title, hop, ways) in [one_way, ask] {
            let medians = tokio.block_on(medians(hop, ways, at_once, directory.path()));
            let figure =
                |(way, median): (&&str, &f64)| format!("{way} {median:.2} µs = {:.1}", median / medians[0]);
            let figures: Vec<String> = ways.iter().zip(&medians).map(figure).collect();
            println!("{title}, {at_once} at once: {}", figures.join(" | "));
        }
    }
}

//! A run: a scenario played from its beginning to its end, under paused time, on one thread.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hermes_actors::Runtime;
use hermes_bus::Gate;
use hermes_bus::journal::{Durability, FileJournal, Journal, MemoryJournal, Record};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::clients::{self, Heard, PATIENCE};
use super::disk::Disk;
use super::meddler::{self, Calm};
use super::scenario::{Fault, Scenario, Storage, Task};
use super::team::{Begun, hire};
use super::watch::{self, Saw, Wrong};
use super::{oracle, scenario};

/// By then everything has ended, in paused time.
const END_OF_THE_WORLD: Duration = Duration::from_secs(3600);

/// What was seen of a run.
#[derive(Default)]
pub struct Seen {
    pub heard: Vec<Heard>,
    pub observed: Vec<Saw>,
}

/// One life of the world: a process that runs tasks on a journal until it ends, or is gone.
pub struct Life {
    pub disk: Arc<Disk>,
    pub begun: Arc<Begun>,
    pub wrong: Wrong,
    /// What was seen, unless the process was gone first.
    pub seen: Option<Seen>,
}

/// A scenario and the journal that it is played on.
pub struct World<'a> {
    scenario: &'a Scenario,
    memory: Arc<MemoryJournal>,
    folder: tempfile::TempDir,
}

impl<'a> World<'a> {
    pub fn new(scenario: &'a Scenario) -> Self {
        Self { scenario, memory: Arc::default(), folder: tempfile::tempdir().unwrap() }
    }

    /// Plays the scenario and checks everything.
    ///
    /// # Panics
    /// When anything is wrong.
    pub fn play(&self) {
        let life = live(self.scenario, self.open());
        oracle::check(self.scenario, &life);
        if self.scenario.successors > 0 {
            let records = life.disk.written();
            drop(life);
            let heir = heir(self.scenario);
            let life = live(&heir, self.open());
            oracle::check_after(&records, &heir, &life);
        }
    }

    /// All that was journaled.
    pub fn records(&self) -> Vec<Record> {
        hermes_bus::read_all(&*self.open()).unwrap()
    }

    fn open(&self) -> Arc<dyn Journal> {
        match self.scenario.storage {
            Storage::Memory => self.memory.clone(),
            Storage::File => {
                let path = self.folder.path().join("x.jsonl");
                FileJournal::open(path, Durability::Process).unwrap()
            }
        }
    }
}

/// The scenario of the process that takes the journal over: nothing goes wrong any more.
fn heir(scenario: &Scenario) -> Scenario {
    let task = Task { starts: 0, runtime: 0, client: scenario::Client::Waits };
    let tasks = vec![task; scenario.successors];
    Scenario { runtimes: 1, tasks, faults: Vec::new(), successors: 0, ..scenario.clone() }
}

fn live(scenario: &Scenario, journal: Arc<dyn Journal>) -> Life {
    let process =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let mut life = Life {
        disk: Disk::new(journal, &scenario.faults),
        begun: Arc::default(),
        wrong: Wrong::default(),
        seen: None,
    };
    let mut runtimes = Vec::new();
    life.seen = process.block_on(async {
        let calm = Calm::default();
        runtimes = (0..scenario.runtimes).map(|_| start(scenario, &life, &calm)).collect();
        tokio::select! {
            biased;
            () = life.disk.power_cut.notified() => None,
            seen = timeout(END_OF_THE_WORLD, whole(scenario, &life, &runtimes, &calm)) => {
                Some(seen.expect("the world does not come to its end"))
            }
        }
    });
    drop(process);
    // Now that nobody else has them, the laws and the rebuild are checked.
    drop(runtimes);
    life
}

fn start(scenario: &Scenario, life: &Life, calm: &Calm) -> Runtime {
    let rules = scenario.faults.iter().filter_map(|fault| meddler::rule(fault, calm));
    let builder = Runtime::tests_builder(life.disk.clone()).admit(scenario.admitted);
    rules.fold(builder, |builder, rule| builder.rule("meddler", rule)).start()
}

/// Everything from the first task to the last: when this returns, nothing runs any more.
async fn whole(scenario: &Scenario, life: &Life, runtimes: &[Runtime], calm: &Calm) -> Seen {
    let gates: Vec<Gate> =
        runtimes.iter().map(|runtime| watch::deliveries(runtime, life.disk.clone(), &life.wrong)).collect();
    let (mut watchers, over) = (JoinSet::new(), Arc::new(Notify::new()));
    for runtime in runtimes {
        for watcher in scenario.watchers.clone() {
            watchers.spawn(watch::observe(runtime.clone(), watcher, over.clone()));
        }
        meddle(scenario, runtime, calm);
    }
    let heard = tasks(scenario, life, runtimes, calm).await;
    for runtime in runtimes {
        runtime.shutdown(4 * PATIENCE).await;
    }
    drop(gates);
    over.notify_waiters();
    let observed = watchers.join_all().await;
    sleep(2 * PATIENCE).await;
    assert_eq!(Handle::current().metrics().num_alive_tasks(), 0, "tasks that outlive their runtime");
    Seen { heard, observed }
}

/// Runs the tasks on a team for each runtime.
async fn tasks(scenario: &Scenario, life: &Life, runtimes: &[Runtime], calm: &Calm) -> Vec<Heard> {
    let teams: Vec<_> = runtimes.iter().map(|runtime| hire(&scenario.team, runtime, &life.begun)).collect();
    let mut running = Vec::new();
    for task in &scenario.tasks {
        running.push(tokio::spawn(clients::run(teams[task.runtime].clone(), task.clone())));
    }
    let calming = calm.clone();
    tokio::spawn(async move {
        sleep(PATIENCE / 2).await;
        calming.store(true, Ordering::Relaxed);
    });
    let mut heard = Vec::new();
    for client in running {
        match client.await {
            Ok(told) => heard.push(told),
            Err(failed) => std::panic::resume_unwind(failed.into_panic()),
        }
    }
    heard
}

/// Lets all faults loose that are not in the rules or on the disk.
fn meddle(scenario: &Scenario, runtime: &Runtime, calm: &Calm) {
    // A runtime knows nothing of the asks of another, so nobody may end them through it.
    let alone = scenario.runtimes == 1;
    for fault in scenario.faults.iter().cloned() {
        let (runtime, calm) = (runtime.clone(), calm.clone());
        match fault {
            Fault::Hold { every, time, then } => {
                tokio::spawn(meddler::hold(runtime, every, time, then, calm));
            }
            Fault::EndAgain { .. } | Fault::EndFirst { .. } if alone => {
                tokio::spawn(meddler::end(runtime, fault, calm));
            }
            Fault::Stray { at } if alone => {
                tokio::spawn(meddler::stray(runtime, at));
            }
            Fault::Shutdown { at, grace } => {
                tokio::spawn(async move {
                    sleep(Duration::from_millis(at)).await;
                    runtime.shutdown(Duration::from_millis(grace)).await;
                });
            }
            _ => {}
        }
    }
}

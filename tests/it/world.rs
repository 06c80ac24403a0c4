//! A seeded world: whole runtimes under paused time, random in everything and the same again for the same seed.
//!
//! A seed draws a [`scenario`](scenario::Scenario): a team of agents, what their models say and their tools do, what
//! becomes of the handles, and faults: envelopes held back, replaced, refused and sent twice, actors that die, disks that
//! are full, a writer or a whole process that is lost. It is played, and an oracle looks at the journal and at all that
//! was told. A seed that fails prints its scenario, pruned, and how to run it alone:
//!
//! ```sh
//! WORLD_SEED=123 cargo test --test it world      # one seed
//! WORLD_SEEDS=20000 cargo test --test it world   # more of them; together, so many from that one on
//! ```

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use hermes_bus::journal::Record;

use crate::script;
use history::history;
use run::World;
use scenario::Scenario;

mod clients;
mod disk;
mod draw;
mod history;
mod meddler;
mod oracle;
mod prune;
mod run;
mod scenario;
mod team;
mod watch;

/// How many seeds are played.
const SEEDS: u64 = 3_000;

/// Every so many, one is played twice.
const TWICE: u64 = 10;

#[test]
fn whatever_happens_in_the_world_the_laws_hold() {
    let number = |name: &str| std::env::var(name).ok().map(|n| n.parse::<u64>().expect("a number"));
    let from = number("WORLD_SEED");
    let many = number("WORLD_SEEDS").unwrap_or(if from.is_some() { 1 } else { SEEDS });
    let seeds = from.unwrap_or(0)..from.unwrap_or(0) + many;
    let (next, failed) = (AtomicU64::new(seeds.start), Mutex::new(Vec::new()));
    std::thread::scope(|threads| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            threads.spawn(|| {
                while let Some(seed) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|s| *s < seeds.end) {
                    if let Some(failure) = failure(seed) {
                        eprintln!("{failure}");
                        failed.lock().unwrap().push(seed);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "these seeds failed: {failed:?}");
}

/// What is wrong with the world of this seed, told so that it can be found.
fn failure(seed: u64) -> Option<String> {
    let scenario = draw::scenario(seed);
    let (why, _) = wrong(&scenario)?;
    let smallest = prune::pruned(scenario, |smaller| wrong(smaller).is_some());
    let (again, journal) = wrong(&smallest).unwrap_or_else(|| ("nothing, this time".to_owned(), Vec::new()));
    let journal = script::text(&journal);
    Some(format!(
        "WORLD_SEED={seed} cargo test --test it world\n{why}\n\n\
         The least that fails: {smallest:#?}\n{again}\n{journal}"
    ))
}

/// What is wrong with this world, and its journal.
fn wrong(scenario: &Scenario) -> Option<(String, Vec<Record>)> {
    let world = World::new(scenario);
    let played = catch_unwind(AssertUnwindSafe(|| {
        world.play();
        if scenario.seed.is_multiple_of(TWICE) && !scenario.uses_threads() {
            play_again(scenario, &history(&world.records()));
        }
    }));
    let panic = played.err()?;
    let words = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    Some((words.unwrap_or("it panicked").to_owned(), world.records()))
}

/// Plays it once more, and compares.
fn play_again(scenario: &Scenario, first: &str) {
    let world = World::new(scenario);
    world.play();
    let second = history(&world.records());
    assert!(first == second, "played twice, it was not the same:\n{}", difference(first, &second));
}

/// Where two histories part.
fn difference(first: &str, second: &str) -> String {
    let lines = first.lines().zip(second.lines()).enumerate();
    let parted =
        lines.filter(|(_, (a, b))| a != b).map(|(at, (a, b))| format!("line {}:\n{a}\n{b}", at + 1)).next();
    parted.unwrap_or_else(|| "one is longer".to_owned())
}

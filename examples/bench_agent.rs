//! The whole loop under load: many tasks against a scripted OpenAI-compatible server, one line of figures.
//!
//! `bench_agent --base URL --tasks T --conc C --turns N --k K --tool add|slow_add --lat MS [--journal PATH|memory|off]`
//!
//! The server at `{base}/{N}/{K}/{tool}/{lat}/v1` asks for the tool in each of N-1 replies and then says `FINAL {N}`.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use bytes::Bytes;
use hermes_actors::{Agent, Runtime, tool};
use hermes_bus::journal::{
    Batch, BlobHash, Durability, FileJournal, Journal, JournalError, MemoryJournal, Record,
};
use hermes_llm::{Endpoint, OpenAiModel, Streaming};
use tokio::task::JoinSet;

/// Adds two numbers.
///
/// # Arguments
/// - a: one number
/// - b: the other number
#[tool(read_only)]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Adds two numbers, slowly.
///
/// # Arguments
/// - a: one number
/// - b: the other number
#[tool(read_only)]
async fn slow_add(a: i64, b: i64) -> i64 {
    tokio::time::sleep(Duration::from_millis(50)).await;
    a + b
}

const USAGE: &str = "bench_agent --base URL --tasks T --conc C --turns N --k K --tool add|slow_add --lat MS \
                     [--journal PATH|memory|off]";

const NAMES: [&str; 8] = ["base", "tasks", "conc", "turns", "k", "tool", "lat", "journal"];

struct Arguments(HashMap<String, String>);

impl Arguments {
    /// Reads the command line; ends the process with the usage where that was asked for, or is needed.
    fn read() -> Self {
        let all: Vec<String> = std::env::args().skip(1).collect();
        if all.iter().any(|argument| argument == "--help") {
            println!("{USAGE}");
            std::process::exit(0);
        }
        Self::pairs(&all).unwrap_or_else(|fault| {
            eprintln!("{fault}\n{USAGE}");
            std::process::exit(2);
        })
    }

    fn pairs(all: &[String]) -> Result<Self, String> {
        let pair = |pair: &[String]| {
            let known = pair[0].strip_prefix("--").filter(|name| NAMES.contains(name));
            let name = known.ok_or_else(|| format!("there is no argument `{}`", pair[0]))?;
            let value = pair.get(1).ok_or_else(|| format!("--{name} wants a value"))?;
            Ok((name.to_owned(), value.clone()))
        };
        all.chunks(2).map(pair).collect::<Result<_, _>>().map(Self)
    }

    fn text(&self, name: &str, usual: &str) -> String {
        self.0.get(name).cloned().unwrap_or_else(|| usual.to_owned())
    }

    fn number(&self, name: &str, usual: u32) -> anyhow::Result<u32> {
        self.text(name, &usual.to_string()).parse().with_context(|| format!("--{name} wants a number"))
    }
}

/// Numbers and forgets: what the loop costs without a journal.
#[derive(Default)]
struct Off {
    last: AtomicU64,
    blobs: MemoryJournal,
}

impl Journal for Off {
    fn append(&self, batch: &mut Batch) -> Result<(), JournalError> {
        let first = self.last.fetch_add(batch.len() as u64, Ordering::Relaxed) + 1;
        batch.number(first);
        Ok(())
    }
    fn keeps_lines(&self) -> bool {
        false
    }
    fn read(&self, _after: u64, _limit: usize) -> Result<Vec<Record>, JournalError> {
        Ok(Vec::new())
    }
    fn last(&self) -> Result<u64, JournalError> {
        Ok(self.last.load(Ordering::Relaxed))
    }
    fn put_blob(&self, bytes: &[u8]) -> Result<BlobHash, JournalError> {
        self.blobs.put_blob(bytes)
    }
    fn blob(&self, hash: &BlobHash) -> Result<Bytes, JournalError> {
        self.blobs.blob(hash)
    }
    fn flush(&self) -> Result<(), JournalError> {
        Ok(())
    }
    fn location(&self) -> String {
        "off".to_owned()
    }
}

fn journal(named: &str) -> anyhow::Result<Arc<dyn Journal>> {
    Ok(match named {
        "off" => Arc::new(Off::default()),
        "memory" => Arc::new(MemoryJournal::default()),
        path => FileJournal::open(path, Durability::Process)?,
    })
}

// One thread: the bus is one writer, and what a task does between two answers is too little to be worth waking another core.
#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::read();
    let (tasks, conc) = (arguments.number("tasks", 1)?, arguments.number("conc", 1)?);
    let (turns, k) = (arguments.number("turns", 10)?, arguments.number("k", 1)?);
    let (tool, lat) = (arguments.text("tool", "add"), arguments.number("lat", 0)?);
    let base = format!("{}/{turns}/{k}/{tool}/{lat}/v1", arguments.text("base", "http://127.0.0.1:8080"));
    // Not streamed: what it is measured against is a plain loop of requests and replies.
    let endpoint = Endpoint::new(base, "gpt-4o-mini")?.api_key("sk-test").streaming(Streaming::Off);
    let runtime = Runtime::builder(journal(&arguments.text("journal", "off"))?).admit(10_000).start();
    let agent = Agent::builder("calculator")
        .system_prompt("You are a calculator. Use the tools.")
        .model(OpenAiModel::new(endpoint)?)
        .tool(add)
        .tool(slow_add)
        .max_iterations(turns + 1)
        .tools_at_once(k.max(4))
        .runtime(&runtime)
        .build()?;

    // The agent's actors are there before the first task, as the client of a plain loop is.
    agent.runtime().await?;
    let before = cpu_seconds()?;
    let start = Instant::now();
    let mut times = run_all(&agent, tasks, conc, turns).await?;
    let wall = start.elapsed().as_secs_f64();
    let cpu = cpu_seconds()? - before;
    times.sort_by(f64::total_cmp);
    let at = |q: f64| times[((times.len() - 1) as f64 * q) as usize] * 1e3;
    println!(
        r#"{{"ok":true,"tools":{},"loop_wall":{wall:.4},"loop_cpu":{cpu:.4},"pre_cpu":{before:.4},"hwm_kb":{},"p50":{:.3},"p99":{:.3}}}"#,
        tasks * (turns - 1) * k,
        peak_kb()?,
        at(0.5),
        at(0.99)
    );
    runtime.shutdown(Duration::from_secs(5)).await;
    Ok(())
}

/// Runs all tasks, `conc` at a time; gives how long each took, in seconds.
async fn run_all(agent: &Agent, tasks: u32, conc: u32, turns: u32) -> anyhow::Result<Vec<f64>> {
    let (mut running, mut times) = (JoinSet::new(), Vec::new());
    for i in 0..tasks {
        if running.len() >= conc as usize
            && let Some(done) = running.join_next().await
        {
            times.push(done??);
        }
        let agent = agent.clone();
        running.spawn(async move {
            let start = Instant::now();
            let outcome = agent.run(format!("Task {i}: add the numbers.")).await?;
            let wanted = format!("FINAL {turns}");
            ensure!(outcome.answer.as_deref() == Some(&wanted), "task {i}: {}", outcome.summary());
            anyhow::Ok(start.elapsed().as_secs_f64())
        });
    }
    while let Some(done) = running.join_next().await {
        times.push(done??);
    }
    Ok(times)
}

/// User and system time of this process.
fn cpu_seconds() -> anyhow::Result<f64> {
    // The kernel brings a thread's account up to date when the thread pauses.
    std::thread::sleep(Duration::from_millis(2));
    let threads = std::fs::read_dir("/proc/self/task").context("needs Linux's /proc")?;
    let mut nanoseconds = 0u64;
    for thread in threads {
        let text = std::fs::read_to_string(thread?.path().join("schedstat")).unwrap_or_default();
        nanoseconds += text.split_whitespace().next().and_then(|n| n.parse::<u64>().ok()).unwrap_or_default();
    }
    Ok(nanoseconds as f64 / 1e9)
}

fn peak_kb() -> anyhow::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no VmHWM")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

//! What a task costs beside its model and its tools: one turn, 200 turns of one conversation, and whether late turns
//! cost what early ones do.
#![allow(clippy::unwrap_used, missing_docs)]

use std::hint::black_box;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use async_trait::async_trait;
use criterion::{Criterion, criterion_group, criterion_main};
use hermes_actors::{Agent, End, Runtime, tool};
use hermes_bus::journal::{Durability, FileJournal, Journal, MemoryJournal};
use hermes_llm::{
    ChatError, ChatMessage, ChatModel, ChatReply, ChatRequest, Deltas, Finish, ToolCall, Usage,
};

/// Adds two numbers.
///
/// # Arguments
/// - a: one number
/// - b: the other number
#[tool(read_only)]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// When the model was asked.
static ASKED: Mutex<Vec<Instant>> = Mutex::new(Vec::new());

/// Asks for a tool in all turns but the last.
struct Turns(usize);

#[async_trait]
impl ChatModel for Turns {
    fn name(&self) -> &str {
        "turns"
    }

    async fn chat(&self, request: ChatRequest, _: Deltas) -> Result<ChatReply, ChatError> {
        ASKED.lock().unwrap().push(Instant::now());
        let call = || ToolCall::new("call", "add", r#"{"a":1,"b":2}"#);
        // A system and a user message, then two messages a turn.
        let last = request.messages.len() / 2 >= self.0;
        let (message, finish) = if last {
            (ChatMessage::assistant("done"), Finish::Stop)
        } else {
            (ChatMessage::assistant_calls(vec![call()]), Finish::ToolCalls)
        };
        Ok(ChatReply { message, finish, usage: Usage::default(), time_to_first_token: None })
    }
}

fn agent(journal: Arc<dyn Journal>, turns: usize) -> Agent {
    let runtime = Runtime::builder(journal).start();
    let limit = u32::try_from(turns).unwrap();
    let agent =
        Agent::builder("calculator").system_prompt("You are a calculator.").model(Turns(turns)).tool(add);
    agent.max_iterations(limit).runtime(&runtime).build().unwrap()
}

async fn run(agent: &Agent) {
    ASKED.lock().unwrap().clear();
    let outcome = agent.run("Add the numbers.").await.unwrap();
    assert_eq!(outcome.end, End::Completed);
    black_box(outcome);
}

fn bench(c: &mut Criterion) {
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    for turns in [1, 2, 10, 200] {
        let mut group = c.benchmark_group(format!("{turns} turns"));
        if turns == 200 {
            group.sample_size(20);
        }
        let (memory, file) = tokio.block_on(async {
            let path = folder.path().join(format!("{turns}.jsonl"));
            let file = FileJournal::open(path, Durability::Process).unwrap();
            (agent(Arc::new(MemoryJournal::default()), turns), agent(file, turns))
        });
        group.bench_function("journal in memory", |b| b.to_async(&tokio).iter(|| run(&memory)));
        group.bench_function("journal in a file", |b| b.to_async(&tokio).iter(|| run(&file)));
        group.finish();
    }
}

/// Prints what the last fifty of 400 turns cost against the first fifty.
fn flat(_: &mut Criterion) {
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flat.jsonl");
    let ratio = || {
        let asked = ASKED.lock().unwrap();
        let took = |from: usize| (asked[from + 50] - asked[from]).as_secs_f64();
        took(349) / took(0)
    };
    let mut ratios: Vec<f64> = (0..15)
        .map(|_| {
            tokio.block_on(async {
                let file = FileJournal::open(&path, Durability::Process).unwrap();
                run(&agent(file, 400)).await;
            });
            ratio()
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    println!("400 turns: the last fifty against the first fifty: {:.2}", ratios[ratios.len() / 2]);
}

criterion_group!(benches, bench, flat);
criterion_main!(benches);

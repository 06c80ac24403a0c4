//! A stress on real threads: random turns, faults and cancels; the laws and the rebuild (checked when the runtime is
//! dropped) are the oracle. What time alone decides is the [`world`](crate::world)'s.

use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use hermes_actors::{Agent, Runtime, tool};
use hermes_llm::{
    ChatError, ChatMessage, ChatModel, ChatReply, ChatRequest, Deltas, Finish, ToolCall, Usage,
};

/// Adds two numbers.
///
/// # Arguments
/// - a: one
/// - b: the other
#[tool(read_only)]
fn add(a: i64, b: i64) -> i64 {
    a.wrapping_add(b)
}

/// Takes its time, sometimes too much.
///
/// # Arguments
/// - ms: how long
#[tool(timeout = "50ms")]
async fn slow(ms: u64) -> String {
    tokio::time::sleep(Duration::from_millis(ms)).await;
    format!("{ms} ms later 🐢")
}

/// Breaks down.
#[tool]
async fn break_down() -> String {
    panic!("boom")
}

/// Says that it cannot.
#[tool(idempotent)]
async fn unable() -> Result<String, String> {
    Err("无法完成".to_owned())
}

/// Needs an approval that nobody gives.
#[tool(destructive)]
fn wipe() -> String {
    unreachable!("a destructive tool ran")
}

/// A model that says anything.
struct Wild {
    rng: Mutex<fastrand::Rng>,
    sub_agents: &'static [&'static str],
}

impl Wild {
    fn new(seed: u64, sub_agents: &'static [&'static str]) -> Self {
        Self { rng: Mutex::new(fastrand::Rng::with_seed(seed)), sub_agents }
    }

    fn calls(&self, rng: &mut fastrand::Rng) -> Vec<ToolCall> {
        (0..rng.usize(1..=6)).map(|_| self.call(rng)).collect()
    }

    fn call(&self, rng: &mut fastrand::Rng) -> ToolCall {
        let ms = rng.u64(0..100);
        let (name, arguments) = match rng.usize(0..12) {
            0..3 => ("add", r#"{"a":1,"b":2}"#.to_owned()),
            3..5 => ("slow", format!(r#"{{"ms":{ms}}}"#)),
            5 => ("break_down", "{}".to_owned()),
            6 => ("unable", "{}".to_owned()),
            7 => ("wipe", "{}".to_owned()),
            8 => ("no_such_tool", "{}".to_owned()),
            9 => ("add", r#"{"a":1,"#.to_owned()),
            _ => match rng.choice(self.sub_agents) {
                Some(name) => (*name, r#"{"task":"find out"}"#.to_owned()),
                None => ("add", r#"{"a":"x"}"#.to_owned()),
            },
        };
        ToolCall::new("call_0", name, arguments)
    }
}

#[async_trait]
impl ChatModel for Wild {
    fn name(&self) -> &str {
        "wild"
    }

    async fn chat(&self, _request: ChatRequest, _: Deltas) -> Result<ChatReply, ChatError> {
        let (what, wait, calls) = {
            let mut rng = self.rng.lock().unwrap();
            (rng.usize(0..100), rng.u64(0..30), self.calls(&mut rng))
        };
        tokio::time::sleep(Duration::from_millis(wait)).await;
        let (message, finish) = match what {
            0..60 => (ChatMessage::assistant_calls(calls), Finish::ToolCalls),
            60..65 => (ChatMessage::assistant_calls(calls), Finish::Length),
            65..85 => (ChatMessage::assistant("完成 ✅"), Finish::Stop),
            85..88 => (ChatMessage::assistant(""), Finish::Stop),
            88..90 => (ChatMessage::assistant("so far"), Finish::Length),
            90..92 => (ChatMessage::assistant("no"), Finish::ContentFilter),
            92..94 => (ChatMessage::assistant("?"), Finish::Unknown("eos".to_owned())),
            94..96 => return Err(ChatError::bad_reply("garbage")),
            96..98 => panic!("the client broke"),
            _ => std::future::pending().await,
        };
        Ok(ChatReply { message, finish, usage: Usage::default(), time_to_first_token: None })
    }
}

/// A planner with two researchers that have a helper of their own.
fn team(runtime: &Runtime, seed: u64) -> Agent {
    let tools = |name: &str, seed, subs| {
        Agent::builder(name)
            .model(Wild::new(seed, subs))
            .tool(add)
            .tool(slow)
            .tool(break_down)
            .tool(unable)
            .tool(wipe)
    };
    let helper = tools("helper", seed + 1, &[]).max_iterations(3).build().unwrap();
    let researcher = tools("researcher", seed + 2, &["helper"])
        .tool(helper.as_tool("helps"))
        .max_iterations(4)
        .deadline(Duration::from_millis(400))
        .build()
        .unwrap();
    tools("planner", seed + 3, &["researcher", "helper"])
        .tool(researcher.as_tool("finds out"))
        .tool(helper.as_tool("helps").timeout(Duration::from_millis(80)))
        .tools_at_once(3)
        .deadline(Duration::from_secs(2))
        .runtime(runtime)
        .build()
        .unwrap()
}

async fn storm(seed: u64, tasks: usize) {
    let runtime = Runtime::for_tests();
    let agent = team(&runtime, seed);
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut running = Vec::new();
    for i in 0..tasks {
        let handle = agent.start(format!("task {i}")).await.unwrap();
        let cancel_after = if rng.bool() { Some(Duration::from_millis(rng.u64(0..300))) } else { None };
        running.push(tokio::spawn(async move {
            if let Some(after) = cancel_after {
                tokio::time::sleep(after).await;
                handle.cancel();
            }
            handle.outcome().await
        }));
    }
    for task in running {
        task.await.unwrap();
    }
    runtime.shutdown(Duration::from_secs(60)).await;
    let records = hermes_bus::read_all(&**runtime.journal()).unwrap();
    let lines = records.iter().map(|record| &record.line[..]);
    let broken = hermes_actors::laws::check(lines, hermes_actors::laws::Ending::Whole);
    assert!(broken.is_empty(), "seed {seed}: {broken:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn storms_on_several_threads_are_lawful() {
    for seed in 1_000..1_006 {
        eprintln!("seed {seed}");
        storm(seed, 16).await;
    }
}

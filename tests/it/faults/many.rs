//! Many at once: tasks, runtimes, processes.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use hermes_actors::laws::{Ending, check, digests};
use hermes_actors::{Agent, AgentBuilder, End, Runtime};
use hermes_bus::journal::{Durability, FileJournal, Journal, ReadOnlyJournal, families, family, read_family};
use hermes_bus::read_all;
use hermes_llm::{
    ChatError, ChatMessage, ChatModel, ChatReply, ChatRequest, Deltas, Finish, ScriptedModel, Step, Usage,
};
use serde_json::json;

use super::{asking, payloads};
use crate::child;

fn weather_man(runtime: &Runtime) -> Agent {
    let steps = [Step::call("weather", json!({"city": "北京"})), Step::text("晴")];
    asking(runtime, ScriptedModel::conversation(steps)).build().unwrap()
}

async fn run(agent: &Agent, tasks: usize) {
    let running: Vec<_> = (0..tasks)
        .map(|n| {
            tokio::spawn({
                let agent = agent.clone();
                async move { agent.run(format!("task {n}")).await.unwrap().end }
            })
        })
        .collect();
    for task in running {
        assert_eq!(task.await.unwrap(), End::Completed);
    }
}

/// Answers after a second; remembers how many waited at once.
#[derive(Clone, Default)]
struct Crowd {
    now: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

#[async_trait]
impl ChatModel for Crowd {
    fn name(&self) -> &str {
        "crowd"
    }
    async fn chat(&self, _: ChatRequest, _: Deltas) -> Result<ChatReply, ChatError> {
        self.most.fetch_max(self.now.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_secs(1)).await;
        self.now.fetch_sub(1, Ordering::Relaxed);
        let (message, finish) = (ChatMessage::assistant("晴"), Finish::Stop);
        Ok(ChatReply { message, finish, usage: Usage::default(), time_to_first_token: None })
    }
}

#[tokio::test(start_paused = true)]
async fn of_1100_tasks_1000_are_admitted_at_once_and_the_others_wait() {
    let runtime = Runtime::for_tests();
    let model = Crowd::default();
    let begun = tokio::time::Instant::now();
    run(&asking(&runtime, model.clone()).build().unwrap(), 1_100).await;
    assert_eq!(model.most.load(Ordering::Relaxed), 1_000);
    assert_eq!(begun.elapsed().as_secs(), 2);
    assert_eq!(payloads(&runtime, "task.finished").len(), 1_100);
}

/// An agent that has this one as its only tool, and hands its task on to it.
fn above(agent: Agent) -> AgentBuilder {
    let name = agent.name();
    let steps = [Step::call(name, json!({"task": "go on"})), Step::text(format!("so says {name}"))];
    Agent::builder(format!("{name}_above"))
        .model(ScriptedModel::conversation(steps))
        .tool(agent.as_tool("goes on"))
}

#[tokio::test(start_paused = true)]
async fn agents_call_agents_three_deep_whatever_they_are_called() {
    for name in ["deep", "step_by_step"] {
        let runtime = Runtime::for_tests();
        let mut agent = Agent::builder(name).model(ScriptedModel::new([])).build().unwrap();
        for _ in 0..3 {
            agent = above(agent).build().unwrap();
        }
        assert_eq!(
            above(agent).runtime(&runtime).build().unwrap().run("go").await.unwrap().end,
            End::Completed
        );
        assert_eq!(payloads(&runtime, "task.start").len(), 4);
        let refused = payloads(&runtime, "tool.failed").remove(0);
        assert_eq!(refused["shown"], "ERROR: agents may call agents 3 deep; this would be deeper");
    }
}

#[tokio::test]
async fn two_runtimes_of_one_process_do_not_see_each_other() {
    let (one, other) = (Runtime::for_tests(), Runtime::for_tests());
    let agents = [weather_man(&one), weather_man(&other)];
    tokio::join!(run(&agents[0], 3), run(&agents[1], 5));
    assert_eq!(payloads(&one, "task.finished").len(), 3);
    assert_eq!(payloads(&other, "task.finished").len(), 5);
    one.shutdown(Duration::from_secs(5)).await;
    assert!(agents[0].run("more").await.is_err());
    run(&agents[1], 1).await;
}

/// All that stands in the family at `path` is lawful, and numbered without a gap; how many tasks it holds.
fn lawful(path: &Path) -> usize {
    let records = read_family(&family(path).unwrap()).unwrap().records;
    assert_eq!(check(records.iter().map(|record| &record.line[..]), Ending::Whole), []);
    assert_eq!(digests(&ReadOnlyJournal::open(path).unwrap(), &records), []);
    assert!(records.iter().map(|record| record.seq).eq(1..=records.len() as u64));
    let is_end = |line: &[u8]| String::from_utf8_lossy(line).contains(r#""name":"task.finished""#);
    records.iter().filter(|record| is_end(&record.line)).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_runtimes_on_one_file_share_its_writer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.jsonl");
    let open = || FileJournal::open(&path, Durability::Process).unwrap();
    let [one, other] = [(); 2].map(|()| Runtime::builder(open()).start());
    let agents = [weather_man(&one), weather_man(&other)];
    tokio::join!(run(&agents[0], 20), run(&agents[1], 20));
    assert_eq!(read_all(&*open()).unwrap().len(), 40 * 9);
    assert_eq!(lawful(&path), 40);
    assert_eq!(families(&path).unwrap(), [path]);
}

/// What the child does: it runs a few tasks on the journal that it is told.
#[tokio::test]
async fn child() {
    let Some(path) = std::env::var_os("HERMES_TEST_MANY") else { return };
    let runtime = Runtime::builder(FileJournal::open(path, Durability::Process).unwrap()).start();
    run(&weather_man(&runtime), 10).await;
    runtime.shutdown(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn two_processes_on_one_journal_write_a_family_each() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.jsonl");
    let journal = FileJournal::open(&path, Durability::Process).unwrap();
    let runtime = Runtime::builder(journal.clone()).start();
    let mut other = child::running("faults::many::child", "HERMES_TEST_MANY", &path).spawn().unwrap();
    run(&weather_man(&runtime), 10).await;
    assert!(other.wait().unwrap().success());
    journal.flush().unwrap();
    let found: Vec<_> = families(&path).unwrap();
    assert_eq!(found, [path, folder.path().join("x-2.jsonl")]);
    assert_eq!(found.iter().map(|path| lawful(path)).collect::<Vec<_>>(), [10, 10]);
}

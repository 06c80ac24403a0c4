//! Things that break down: orchestrators, rules, clients of models, readers of arguments. Each costs as little as it
//! can, and its siblings live.

use std::any::Any;

use async_trait::async_trait;
use expect_test::expect;
use hermes_actors::{Agent, End, Runtime};
use hermes_bus::journal::MemoryJournal;
use hermes_bus::{AnyPayload, Body, Draft, Kind, Verdict};
use hermes_llm::{
    ChatError, ChatMessage, ChatModel, ChatReply, ChatRequest, Deltas, Finish, ScriptedModel, Step, ToolCall,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{asking, scripted};
use crate::script::journal;

fn ruled(rule: impl Fn(&Draft) -> Verdict + Send + Sync + 'static) -> Runtime {
    Runtime::tests_builder(std::sync::Arc::new(MemoryJournal::new())).rule("test", rule).start()
}

fn json(draft: &Draft) -> String {
    let mut json = Vec::new();
    draft.body().write_journal(&mut json).unwrap();
    String::from_utf8(json).unwrap()
}

/// A payload that kills whoever does this with it.
enum Deadly {
    /// In the journal it stands as it should.
    Reads(Body),
    /// It never gets there.
    Writes(Body),
}

impl Deadly {
    fn body(&self) -> &Body {
        let (Self::Reads(body) | Self::Writes(body)) = self;
        body
    }
}

impl AnyPayload for Deadly {
    fn name(&self) -> &str {
        self.body().name()
    }
    fn kind(&self) -> Kind {
        self.body().kind()
    }
    fn is_interim(&self) -> bool {
        false
    }
    fn write_journal(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        assert!(matches!(self, Self::Reads(_)), "no such city");
        self.body().write_journal(out)
    }
    fn write_wire(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        self.write_journal(out)
    }
    fn as_any(&self) -> &dyn Any {
        assert!(matches!(self, Self::Writes(_)), "who reads this breaks down");
        self
    }
}

#[tokio::test(start_paused = true)]
async fn an_orchestrator_that_breaks_down_is_rebuilt_from_the_journal_and_goes_on() {
    // In the journal stands what the model said; the rebuilt task reads it there.
    let runtime = ruled(|draft| match draft.body().name() {
        "llm.replied" => Verdict::Replace(Body::new(Deadly::Reads(draft.body().clone()))),
        _ => Verdict::Pass,
    });
    let steps = [Step::call("weather", json!({"city": "北京"})), Step::text("晴")];
    let outcome = scripted(&runtime, steps).build().unwrap().run("天气？").await.unwrap();
    assert_eq!((outcome.end, outcome.answer.as_deref()), (End::Completed, Some("晴")));
    expect![[r##"
        1 task.start user -> orchestrator () {"task":"天气？"}
        2 llm.chat orchestrator -> llm (1) {"append":[{"of":"#1"}],"turn":1}
        3 llm.replied llm -> orchestrator (2) ends 2 {"finish":"tool_calls","message":{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{\"city\":\"北京\"}","name":"weather"},"id":"t1.0","type":"function"}]},"provider_ids":{"t1.0":"call_1_0"}}
        4 tool.call orchestrator -> tool.weather (3) {"arguments":{"city":"北京"},"call_id":"t1.0","effect":"read_only","tool":"weather"}
        5 tool.started tool.weather -> tool.weather (4) {"call_id":"t1.0"}
        6 tool.returned tool.weather -> orchestrator (5) ends 4 begun {"call_id":"t1.0","result":"北京：晴","shown":"OK: 北京：晴"}
        7 llm.chat orchestrator -> llm (6) {"append":[{"of":"#3"},{"of":"#6"}],"turn":2}
        8 llm.replied llm -> orchestrator (7) ends 7 {"finish":"stop","message":{"content":"晴","role":"assistant"}}
        9 task.finished orchestrator -> final (8) ends 1 {"answer":"晴","gathered":[{"call_id":"t1.0","of":"#6","tool":"weather"}],"outcome":"completed"}
    "##]].assert_eq(&journal(&runtime));
}

#[tokio::test(start_paused = true)]
async fn an_orchestrator_that_breaks_down_again_and_again_costs_one_task() {
    for deadly in ["tool.call", "task.finished"] {
        let runtime = ruled(move |draft| {
            let this = draft.body().name() == deadly && json(draft).contains("亚特兰蒂斯");
            if this {
                Verdict::Replace(Body::new(Deadly::Writes(draft.body().clone())))
            } else {
                Verdict::Pass
            }
        });
        let to = |city| [Step::call("weather", json!({"city": city})), Step::text(city)];
        let [first, dies, last] =
            ["北京", "亚特兰蒂斯", "上海"].map(|city| scripted(&runtime, to(city)).build().unwrap());
        let (first, dies, last) = tokio::join!(first.run("天气？"), dies.run("天气？"), last.run("天气？"));
        let dies = dies.unwrap();
        assert_eq!(
            (first.unwrap().end, dies.end, last.unwrap().end),
            (End::Completed, End::Failed, End::Completed)
        );
        let failure = dies.failure.unwrap();
        let why = "the orchestrator of the task died: no such city";
        assert_eq!((failure.kind.as_str(), failure.message.as_str()), ("died", why));
    }
}

/// A client that breaks down.
struct Broken;

#[async_trait]
impl ChatModel for Broken {
    fn name(&self) -> &str {
        "broken"
    }
    async fn chat(&self, _: ChatRequest, _: Deltas) -> Result<ChatReply, ChatError> {
        panic!("the client broke")
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_breaks_down_fails_its_task_each_time() {
    let runtime = Runtime::for_tests();
    let agent = asking(&runtime, Broken).build().unwrap();
    for _ in 0..6 {
        let outcome = agent.run("天气？").await.unwrap();
        assert_eq!((outcome.end, outcome.failure.unwrap().kind.as_str()), (End::Failed, "panicked"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_call_that_is_lost_is_made_once_more() {
    let runtime = ruled(|draft| match json(draft).contains(r#""turn":1"#) {
        true if draft.body().name() == "llm.chat" => Verdict::Reject("not now".to_owned()),
        _ => Verdict::Pass,
    });
    scripted(&runtime, [Step::text("晴")]).build().unwrap().run("天气？").await.unwrap();
    expect![[r##"
        1 task.start user -> orchestrator () {"task":"天气？"}
        2 llm.chat orchestrator -> llm (1) {"append":[{"of":"#1"}],"turn":1}
        3 envelope.failed llm -> orchestrator (2) ends 2 {"kind":"rejected","message":"not now"}
        4 llm.chat orchestrator -> llm (3) {"append":[],"retry_of":"#2","turn":2}
        5 llm.replied llm -> orchestrator (4) ends 4 {"finish":"stop","message":{"content":"晴","role":"assistant"}}
        6 task.finished orchestrator -> final (5) ends 1 {"answer":"晴","outcome":"completed"}
    "##]].assert_eq(&journal(&runtime));
}

#[tokio::test(start_paused = true)]
async fn but_not_for_ever() {
    let runtime = ruled(|draft| match draft.body().name() {
        "llm.chat" => Verdict::Reject("not today".to_owned()),
        _ => Verdict::Pass,
    });
    let outcome = scripted(&runtime, []).build().unwrap().run("天气？").await.unwrap();
    let failure = outcome.failure.unwrap();
    assert_eq!((outcome.end, failure.kind.as_str()), (End::Failed, "interrupted"));
    assert!(failure.message.contains("not today"), "{}", failure.message);
}

#[tokio::test(start_paused = true)]
async fn a_reply_with_call_ids_of_another_make_fails_the_task_before_anything_is_called() {
    let calls = || vec![ToolCall::new("call_0", "weather", "{}")];
    let foreign = move || hermes_actors::protocol::LlmReplied {
        purpose: Default::default(),
        message: ChatMessage::assistant_calls(calls()),
        finish: Finish::ToolCalls,
        usage: Default::default(),
        time_to_first_token_ms: None,
        provider_ids: Default::default(),
    };
    let runtime = ruled(move |draft| match draft.body().name() {
        "llm.replied" => Verdict::Replace(Body::new(foreign())),
        _ => Verdict::Pass,
    });
    let outcome = scripted(&runtime, [Step::text("晴")]).build().unwrap().run("天气？").await.unwrap();
    let failure = outcome.failure.unwrap();
    assert_eq!((outcome.end, failure.kind.as_str()), (End::Failed, "bad_reply"));
    expect!["the call id `call_0` is not one of ours: the llm actor must give them"]
        .assert_eq(&failure.message);
}

/// Arguments that cannot even be read.
#[derive(Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[expect(dead_code, reason = "it is only ever read")]
struct Touchy(String);

impl TryFrom<String> for Touchy {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        assert_ne!(text, "boom", "arguments that break their reader down");
        Ok(Self(text))
    }
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "it is only ever read")]
struct Order {
    task: Touchy,
}

#[tokio::test(start_paused = true)]
async fn a_sub_agent_whose_arguments_break_their_reader_down_ends_that_call_and_lives() {
    let runtime = Runtime::for_tests();
    let researcher = Agent::builder("researcher").model(ScriptedModel::conversation([Step::text("七")]));
    let research = |task| ("researcher", json!({"task": task}));
    let steps = [
        Step::calls([research("one"), research("boom")]),
        Step::calls([research("two")])
            .expect_tool_result("ERROR: the tool gave no answer: its receiver died"),
        Step::text("done").expect_tool_result("OK: 七"),
    ];
    let model = ScriptedModel::new(steps);
    let agent = asking(&runtime, model.clone());
    let agent = agent.tool(researcher.build().unwrap().as_tool("finds things out").input::<Order>());
    assert_eq!(agent.build().unwrap().run("go").await.unwrap().end, End::Completed);
    model.assert_finished();
}

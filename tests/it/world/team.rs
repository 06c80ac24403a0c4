//! The team: agents with the models and tools of a scenario.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use hermes_actors::tool::{
    Declaration, Effect, Tool, ToolContext, ToolError, ToolOutput, off_the_event_loop,
};
use hermes_actors::{Agent, AgentBuilder, AtLimit, Runtime};
use hermes_llm::{
    ChatError, ChatMessage, ChatModel, ChatReply, ChatRequest, Deltas, Finish, ToolCall, Usage,
};
use serde_json::{Map, Value, json};

use super::scenario::{Call, Reply, Says, Team};

/// How many bodies have begun.
#[derive(Debug, Default)]
pub struct Begun {
    pub chats: AtomicUsize,
    pub tools: AtomicUsize,
}

/// The agent at the head of the team, on a runtime.
pub fn hire(team: &Team, runtime: &Runtime, begun: &Arc<Begun>) -> Agent {
    agent(team, begun).runtime(runtime).build().unwrap()
}

fn agent(team: &Team, begun: &Arc<Begun>) -> AgentBuilder {
    let [look, set, send] = team.patience.map(Duration::from_millis);
    let tool = |name, effect, timeout| Deed { name, effect, timeout, begun: begun.clone() };
    let model = Mouth { replies: team.replies.clone(), next: AtomicUsize::new(0), begun: begun.clone() };
    let mut builder = Agent::builder(team.name)
        .system_prompt("你是一个助手 🌍")
        .model(model)
        .tool(tool("look", Effect::ReadOnly, look))
        .tool(tool("set", Effect::Idempotent, set))
        .tool(tool("send", Effect::MayChange, send))
        .tool(tool("wipe", Effect::Destructive, send))
        .tools_at_once(team.tools_at_once)
        .max_iterations(team.max_iterations);
    if team.stops_at_limit {
        builder = builder.at_limit(AtLimit::Stop);
    }
    if let Some(deadline) = team.deadline {
        builder = builder.deadline(Duration::from_millis(deadline));
    }
    for below in &team.below {
        let callee = agent(below, begun).build().unwrap().as_tool("does a part");
        builder = builder.tool(match below.timeout {
            Some(timeout) => callee.timeout(Duration::from_millis(timeout)),
            None => callee,
        });
    }
    builder
}

/// A tool that does what its arguments say.
struct Deed {
    name: &'static str,
    effect: Effect,
    timeout: Duration,
    begun: Arc<Begun>,
}

#[async_trait]
impl Tool for Deed {
    fn declaration(&self) -> Declaration {
        let declaration = Declaration::new(self.name, "Does it.", json!({"type": "object"}));
        let declaration = declaration.effect(self.effect).timeout(self.timeout);
        if self.effect == Effect::ReadOnly { declaration.open_world() } else { declaration }
    }

    async fn call(&self, arguments: Map<String, Value>, _: ToolContext) -> Result<ToolOutput, ToolError> {
        self.begun.tools.fetch_add(1, Ordering::Relaxed);
        assert_ne!(self.effect, Effect::Destructive, "a destructive tool ran");
        wait(arguments.get("after").and_then(Value::as_u64).ok_or_else(|| ToolError::new("after what?"))?)
            .await;
        match arguments.get("does").and_then(Value::as_str) {
            Some("return") => Ok(ToolOutput::text("完成 ✅")),
            Some("huge") => Ok(ToolOutput::text("大".repeat(11_000))),
            Some("deep") => ToolOutput::json(&(0..120).fold(json!("bottom"), |inner, _| json!([inner]))),
            Some("nothing") => Ok(ToolOutput::default()),
            Some("panic") => quiet_panic("the tool broke down"),
            Some("hang") => std::future::pending().await,
            Some("block") => off_the_event_loop(|| ToolOutput::text("blocked")).await,
            _ => Err(ToolError::new("无法完成")),
        }
    }
}

/// A model that says what its script says.
struct Mouth {
    replies: Vec<Reply>,
    next: AtomicUsize,
    begun: Arc<Begun>,
}

#[async_trait]
impl ChatModel for Mouth {
    fn name(&self) -> &str {
        "mouth"
    }

    async fn chat(&self, _: ChatRequest, _: Deltas) -> Result<ChatReply, ChatError> {
        self.begun.chats.fetch_add(1, Ordering::Relaxed);
        let next = self.replies.get(self.next.fetch_add(1, Ordering::Relaxed));
        wait(next.map_or(1, |reply| reply.after)).await;
        let (message, finish) = match next.map_or(&Says::Answer, |reply| &reply.says) {
            Says::Calls(calls) => (calling(calls), Finish::ToolCalls),
            Says::CutOff(calls) => (calling(calls), Finish::Length),
            Says::Answer => (ChatMessage::assistant("好的 👍"), Finish::Stop),
            Says::Truncated => (ChatMessage::assistant("so far"), Finish::Length),
            Says::Nothing => (ChatMessage::assistant(""), Finish::Stop),
            Says::Filtered => (ChatMessage::assistant("no"), Finish::ContentFilter),
            Says::Strange => (ChatMessage::assistant("?"), Finish::Unknown("eos".to_owned())),
            Says::Fails(kind) => return Err(failure(kind)),
            Says::Panics => quiet_panic("the client broke down"),
            Says::Hangs => std::future::pending().await,
        };
        let usage = Usage { input_tokens: 7, output_tokens: 3, cached_tokens: 1 };
        Ok(ChatReply { message, finish, usage, time_to_first_token: None })
    }
}

fn calling(calls: &[Call]) -> ChatMessage {
    ChatMessage::assistant_calls(calls.iter().map(call).collect::<Vec<_>>())
}

fn call(call: &Call) -> ToolCall {
    let (name, arguments) = match call {
        Call::Tool(name, act) => (*name, json!({"after": act.after, "does": act.does}).to_string()),
        Call::Agent(name) => (*name, r#"{"task":"do your part"}"#.to_owned()),
        Call::Unknown => ("no_such_tool", "{}".to_owned()),
        Call::Unparsable => ("look", r#"{"after":1,"#.to_owned()),
        Call::Unfit => ("look", r#"{"after":"noon"}"#.to_owned()),
        Call::Destructive => ("wipe", "{}".to_owned()),
    };
    ToolCall::new("call_0", name, arguments)
}

fn failure(kind: &str) -> ChatError {
    let (message, url) = (String::from("as the script says"), String::from("http://localhost"));
    match kind {
        "unreachable" => ChatError::Unreachable { url, message, source: None },
        "timeout" => ChatError::Timeout { url, after: Duration::from_secs(60) },
        "unauthorized" => ChatError::Unauthorized { status: 401, message },
        "rate_limited" => ChatError::RateLimited { retry_after: None, message },
        "context_exceeded" => ChatError::ContextExceeded { message },
        "bad_request" => ChatError::BadRequest { status: 400, message },
        "server" => ChatError::Server { status: 503, message },
        "bad_reply" => ChatError::bad_reply(message),
        _ => ChatError::Script { message },
    }
}

/// Waits; no time at all is not even a moment.
async fn wait(ms: u64) {
    if ms > 0 {
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }
}

/// A panic without its message on the terminal.
pub fn quiet_panic(words: &str) -> ! {
    std::panic::resume_unwind(Box::new(words.to_owned()))
}

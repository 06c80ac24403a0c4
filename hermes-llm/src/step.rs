//! One step of a script: what a scripted model answers, and what it expects to be asked.

use std::time::Duration;

use serde_json::Value;

use crate::{ChatError, ChatMessage, ChatReply, Finish, Role, ToolCall, Usage};

/// One answer of a [`ScriptedModel`](crate::ScriptedModel), with what it expects of the request.
///
/// ```
/// use hermes_llm::Step;
/// use serde_json::json;
///
/// let script = [
///     Step::call("get_weather", json!({"city": "北京"})).expect_user("天气"),
///     Step::text("晴，22°C。").expect_tool_result("22").usage(40, 8),
/// ];
/// # let _ = script;
/// ```
#[derive(Clone, Debug)]
pub struct Step {
    answer: Answer,
    in_user: Vec<String>,
    in_tool_results: Vec<String>,
    delay: Option<Duration>,
    usage: Option<Usage>,
    finish: Option<Finish>,
    pause: Option<Duration>,
    breaks: bool,
}

#[derive(Clone, Debug)]
enum Answer {
    Text(String),
    Calls(Vec<(String, Value)>),
    Reply(ChatReply),
    Fail(ChatError),
    Hang,
}

impl Step {
    /// Answers with text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(Answer::Text(text.into()))
    }

    /// Asks for one tool call. Arguments that are a JSON string are sent as that text, so that a script can send
    /// what is no JSON.
    pub fn call(tool: impl Into<String>, arguments: Value) -> Self {
        Self::calls([(tool, arguments)])
    }

    /// Asks for several tool calls at once; each as in [`Step::call`].
    pub fn calls(calls: impl IntoIterator<Item = (impl Into<String>, Value)>) -> Self {
        Self::new(Answer::Calls(
            calls.into_iter().map(|(tool, arguments)| (tool.into(), arguments)).collect(),
        ))
    }

    /// Answers with exactly this.
    pub fn reply(reply: ChatReply) -> Self {
        Self::new(Answer::Reply(reply))
    }

    /// Fails.
    pub fn fail(error: ChatError) -> Self {
        Self::new(Answer::Fail(error))
    }

    /// Never answers.
    pub fn hang() -> Self {
        Self::new(Answer::Hang)
    }

    fn new(answer: Answer) -> Self {
        Step {
            answer,
            in_user: Vec::new(),
            in_tool_results: Vec::new(),
            delay: None,
            usage: None,
            finish: None,
            pause: None,
            breaks: false,
        }
    }

    /// Expects this text in the last user message. May be said several times.
    pub fn expect_user(mut self, text: impl Into<String>) -> Self {
        self.in_user.push(text.into());
        self
    }

    /// Expects this text in one of the tool messages that came last (those that follow one another). May be said
    /// several times.
    pub fn expect_tool_result(mut self, text: impl Into<String>) -> Self {
        self.in_tool_results.push(text.into());
        self
    }

    /// Waits this long, by tokio's clock, before it answers.
    pub fn after(self, delay: Duration) -> Self {
        Step { delay: Some(delay), ..self }
    }

    /// Waits this long, by tokio's clock, before each piece of the answer, and reports the time to the first one.
    /// Without it the pieces come at once.
    pub fn streamed(self, pause: Duration) -> Self {
        Step { pause: Some(pause), ..self }
    }

    /// The stream breaks in the middle of the answer: the first half of the pieces (at least one) is told, then
    /// [`Delta::Again`](crate::Delta::Again), then the whole answer.
    ///
    /// ```
    /// use hermes_llm::{ChatError, ChatModel, ChatRequest, Delta, Deltas, ScriptedModel, Step};
    /// use std::sync::mpsc;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), ChatError> {
    /// let (tell, told) = mpsc::channel();
    /// let model = ScriptedModel::new([Step::text("Hello there").breaks()]);
    /// model.chat(ChatRequest::default(), Deltas::to(move |delta| drop(tell.send(delta)))).await?;
    /// let text = |text: &str| Delta::Text(text.into());
    /// assert_eq!(told.iter().take(4).collect::<Vec<_>>(), [text("Hello "), Delta::Again, text("Hello "), text("there")]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn breaks(self) -> Self {
        Step { breaks: true, ..self }
    }

    /// Reports this usage, in tokens.
    pub fn usage(self, input_tokens: u64, output_tokens: u64) -> Self {
        Step { usage: Some(Usage { input_tokens, output_tokens, cached_tokens: 0 }), ..self }
    }

    /// Reports this reason for stopping; without it `tool_calls` or `stop`, whichever fits.
    pub fn finish(self, finish: Finish) -> Self {
        Step { finish: Some(finish), ..self }
    }

    /// What the request lacks, in words.
    pub(crate) fn unmet(&self, messages: &[ChatMessage]) -> Option<String> {
        let user = messages.iter().rfind(|message| message.role == Role::User);
        if let Some(text) = self.in_user.iter().find(|text| !user.is_some_and(|message| says(message, text)))
        {
            return Some(format!("expected the last user message to contain `{text}`"));
        }
        let results = last_tool_results(messages);
        let missing =
            self.in_tool_results.iter().find(|text| !results.iter().any(|message| says(message, text)));
        missing.map(|text| format!("expected the last tool results to contain `{text}`"))
    }

    pub(crate) fn delay(&self) -> Option<Duration> {
        self.delay
    }

    /// The wait before each piece.
    pub(crate) fn pause(&self) -> Option<Duration> {
        self.pause
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.breaks
    }

    pub(crate) fn hangs(&self) -> bool {
        matches!(self.answer, Answer::Hang)
    }

    /// The answer; `number` (from 1) goes into the ids of its calls, `input_tokens` into the usage if none was said.
    pub(crate) fn answer(&self, number: usize, input_tokens: u64) -> Result<ChatReply, ChatError> {
        let (message, finish) = match &self.answer {
            Answer::Text(text) => (ChatMessage::assistant(text.as_str()), Finish::Stop),
            Answer::Calls(calls) => (calls_message(calls, number), Finish::ToolCalls),
            Answer::Reply(reply) => return Ok(self.with_overrides(reply.clone())),
            Answer::Fail(error) => return Err(error.clone()),
            Answer::Hang => {
                return Err(ChatError::Script { message: "a step that hangs has no answer".into() });
            }
        };
        let usage = Usage { input_tokens, output_tokens: estimate(&message.render()), cached_tokens: 0 };
        Ok(self.with_overrides(ChatReply { message, finish, usage, time_to_first_token: None }))
    }

    fn with_overrides(&self, reply: ChatReply) -> ChatReply {
        ChatReply {
            usage: self.usage.unwrap_or(reply.usage),
            finish: self.finish.clone().unwrap_or(reply.finish),
            ..reply
        }
    }
}

/// A plausible count of tokens: a quarter of the characters of the JSON, rounded up.
pub(crate) fn estimate(json: &[u8]) -> u64 {
    String::from_utf8_lossy(json).chars().count().div_ceil(4) as u64
}

fn calls_message(calls: &[(String, Value)], number: usize) -> ChatMessage {
    let calls = calls.iter().enumerate().map(|(index, (tool, arguments))| {
        let arguments = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
        ToolCall::new(format!("call_{number}_{index}"), tool, arguments)
    });
    ChatMessage::assistant_calls(calls.collect())
}

fn says(message: &ChatMessage, text: &str) -> bool {
    message.text().is_some_and(|said| said.contains(text))
}

/// The last tool messages that follow one another.
fn last_tool_results(messages: &[ChatMessage]) -> &[ChatMessage] {
    let is_result = |message: &ChatMessage| message.role == Role::Tool;
    let Some(last) = messages.iter().rposition(is_result) else { return &[] };
    let first =
        messages[..last].iter().rposition(|message| !is_result(message)).map_or(0, |before| before + 1);
    &messages[first..=last]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expectations_look_at_the_last_user_message_and_the_last_results() {
        let messages = [
            ChatMessage::user("old question"),
            ChatMessage::tool("1", "old result"),
            ChatMessage::user("new question"),
            ChatMessage::tool("2", "first"),
            ChatMessage::tool("3", "second"),
            ChatMessage::assistant("done"),
        ];
        let step = || Step::text("x");
        assert_eq!(step().unmet(&messages), None);
        assert_eq!(step().expect_user("new").expect_tool_result("first").unmet(&messages), None);
        assert_eq!(step().expect_tool_result("first").expect_tool_result("second").unmet(&messages), None);
        assert!(step().expect_user("old").unmet(&messages).unwrap().contains("`old`"));
        assert!(step().expect_tool_result("old").unmet(&messages).unwrap().contains("tool results"));
        assert!(step().expect_user("x").unmet(&[]).is_some());
    }

    #[test]
    fn calls_have_ids_and_arguments_as_text() {
        let calls = [("a", serde_json::json!({"n": 1})), ("b", "{broken".into())];
        let reply = Step::calls(calls).usage(5, 6).answer(2, 100).unwrap();
        assert_eq!(
            reply.message.tool_calls,
            [ToolCall::new("call_2_0", "a", r#"{"n":1}"#), ToolCall::new("call_2_1", "b", "{broken")]
        );
        assert_eq!(reply.finish, Finish::ToolCalls);
        assert_eq!(reply.usage, Usage { input_tokens: 5, output_tokens: 6, cached_tokens: 0 });
    }

    #[test]
    fn overrides_change_a_given_reply() {
        let given = Step::text("hi").answer(1, 7).unwrap();
        assert_eq!((given.usage.input_tokens, given.usage.output_tokens), (7, 9));
        let reply = Step::reply(given.clone()).finish(Finish::Length).answer(1, 0).unwrap();
        assert_eq!(reply, ChatReply { finish: Finish::Length, ..given });
    }
}

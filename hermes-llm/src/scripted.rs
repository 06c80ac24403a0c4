//! A model that answers from a script, for tests and examples that run offline.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;

use crate::pieces::pieces;
use crate::step::estimate;
use crate::{ChatError, ChatMessage, ChatModel, ChatReply, ChatRequest, Delta, Deltas, Role, Step};

/// How many of the last messages an error shows, and how many characters of each.
const SHOWN: (usize, usize) = (6, 160);

/// A model that answers from a script.
///
/// It fails with [`ChatError::Script`], and says what it was sent, when a request is not what the step expects or no
/// step is left. Clones share the script and the record. Where a step says no usage, a quarter of the
/// characters of the rendered messages and tools counts as input tokens, and of the rendered answer as output tokens,
/// rounded up: plausible, and the same each time. It tells each answer in pieces: text word by word, or every few
/// characters where there are no spaces, and arguments in two parts. It keeps every request, so a context it was sent is shared, and is
/// copied (the handles, not the bytes) when its owner adds to it.
///
/// ```
/// use hermes_llm::{ChatError, ChatMessage, ChatModel, ChatRequest, Deltas, ScriptedModel, Step};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ChatError> {
/// let model = ScriptedModel::new([Step::text("你好！").expect_user("早")]);
/// let request = ChatRequest::from_iter([&ChatMessage::user("早上好")]);
///
/// let reply = model.chat(request.clone(), Deltas::none()).await?;
/// assert_eq!(reply.message.text().as_deref(), Some("你好！"));
/// assert_eq!(model.sent(), [request.clone()]);
/// model.assert_finished();
///
/// let error = model.chat(request, Deltas::none()).await.unwrap_err();
/// assert!(error.to_string().contains("早上好"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ScriptedModel {
    steps: Arc<[Step]>,
    order: Order,
    record: Arc<Mutex<Record>>,
}

/// How the step for a request is found.
#[derive(Clone, Copy, Debug)]
enum Order {
    OfCalls,
    OfConversation,
}

#[derive(Debug)]
struct Record {
    sent: Vec<ChatRequest>,
    used: Vec<bool>,
    failure: Option<String>,
}

impl ScriptedModel {
    /// Uses one step a call, in the order of the calls, whoever asks.
    pub fn new(steps: impl IntoIterator<Item = Step>) -> Self {
        Self::with_order(steps, Order::OfCalls)
    }

    /// Finds the step by the number of assistant messages in the request: none yet, the first step. So many tasks at
    /// once, or a task that was resumed, can share the script; each step may be used any number of times.
    pub fn conversation(steps: impl IntoIterator<Item = Step>) -> Self {
        Self::with_order(steps, Order::OfConversation)
    }

    fn with_order(steps: impl IntoIterator<Item = Step>, order: Order) -> Self {
        let steps: Arc<[Step]> = steps.into_iter().collect();
        let record = Record { sent: Vec::new(), used: vec![false; steps.len()], failure: None };
        ScriptedModel { steps, order, record: Arc::new(Mutex::new(record)) }
    }

    /// Every request so far, in the order they came.
    pub fn sent(&self) -> Vec<ChatRequest> {
        self.record().sent.clone()
    }

    /// Asserts that every step was used and every request was as expected.
    ///
    /// # Panics
    /// If not; the text says which steps are left, or what the first wrong request was.
    #[track_caller]
    pub fn assert_finished(&self) {
        let record = self.record();
        if let Some(failure) = &record.failure {
            panic!("the script was not followed: {failure}");
        }
        let left: Vec<_> = self.steps.iter().zip(&record.used).filter(|(_, used)| !**used).collect();
        let steps: Vec<_> = left.iter().map(|(step, _)| step).collect();
        assert!(
            left.is_empty(),
            "{} of {} steps were never asked for: {steps:#?}",
            left.len(),
            self.steps.len()
        );
    }

    /// Records the request and finds its step and the step's number, counted from 1.
    fn take(&self, request: ChatRequest, messages: &[ChatMessage]) -> Result<(usize, Step), ChatError> {
        let mut record = self.record();
        let index = match self.order {
            Order::OfCalls => record.sent.len(),
            Order::OfConversation => {
                messages.iter().filter(|message| message.role == Role::Assistant).count()
            }
        };
        record.sent.push(request);
        let number = index + 1;
        let Some(step) = self.steps.get(index) else {
            let problem = format!("step {number} was asked for, but the script has {}", self.steps.len());
            return Err(record.fail(problem, messages));
        };
        record.used[index] = true;
        match step.unmet(messages) {
            Some(problem) => Err(record.fail(format!("step {number} {problem}"), messages)),
            None => Ok((number, step.clone())),
        }
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        // A panic elsewhere leaves the record whole: it is only ever pushed to.
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Record {
    fn fail(&mut self, problem: String, messages: &[ChatMessage]) -> ChatError {
        let message = format!("{problem}. It was sent {}", describe(messages));
        self.failure.get_or_insert_with(|| message.clone());
        ChatError::Script { message }
    }
}

#[async_trait]
impl ChatModel for ScriptedModel {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn chat(&self, request: ChatRequest, deltas: Deltas) -> Result<ChatReply, ChatError> {
        let messages = request.messages.decode().map_err(|error| ChatError::Script {
            message: format!(
                "the request holds something else than messages ({error}): {:?}",
                request.messages
            ),
        })?;
        let input_tokens =
            request.messages.iter().chain([request.tools.json()]).map(|json| estimate(json)).sum();
        let (number, step) = self.take(request, &messages)?;
        if let Some(delay) = step.delay() {
            tokio::time::sleep(delay).await;
        }
        if step.hangs() {
            std::future::pending::<()>().await;
        }
        let reply = step.answer(number, input_tokens)?;
        Ok(stream(&step, reply, &deltas).await)
    }
}

/// Tells the reply in pieces, as the step says.
async fn stream(step: &Step, reply: ChatReply, deltas: &Deltas) -> ChatReply {
    if step.pause().is_none() && !deltas.are_wanted() {
        return reply;
    }
    let pieces = pieces(&reply.message);
    let time_to_first_token = match (pieces.is_empty(), step.pause(), step.delay()) {
        (false, Some(pause), delay) => Some(delay.unwrap_or_default() + pause),
        _ => reply.time_to_first_token,
    };
    if step.is_broken() {
        tell(pieces[..pieces.len().div_ceil(2)].to_vec(), step.pause(), deltas).await;
        deltas.tell(Delta::Again);
    }
    tell(pieces, step.pause(), deltas).await;
    ChatReply { time_to_first_token, ..reply }
}

async fn tell(pieces: Vec<Delta>, pause: Option<Duration>, deltas: &Deltas) {
    for piece in pieces {
        if let Some(pause) = pause {
            tokio::time::sleep(pause).await;
        }
        deltas.tell(piece);
    }
}

/// The last messages, a line each, for a person who looks for what went wrong.
fn describe(messages: &[ChatMessage]) -> String {
    let (last, characters) = SHOWN;
    let skipped = messages.len().saturating_sub(last);
    let mut text = format!("{} messages:", messages.len());
    if skipped > 0 {
        text += &format!("\n  … {skipped} before these");
    }
    for (index, message) in messages.iter().enumerate().skip(skipped) {
        let json = String::from_utf8_lossy(&message.render()).into_owned();
        let shown: String = json.chars().take(characters).collect();
        let more = if shown.len() < json.len() { "…" } else { "" };
        text += &format!("\n  [{index}] {shown}{more}");
    }
    text
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    fn asking(messages: &[ChatMessage]) -> ChatRequest {
        messages.iter().collect()
    }

    #[tokio::test]
    async fn steps_come_in_the_order_of_the_calls() {
        let model = ScriptedModel::new([Step::call("f", json!({})), Step::text("done")]);
        let first = model.chat(asking(&[ChatMessage::user("a")]), Deltas::none()).await.unwrap();
        assert_eq!(first.message.tool_calls[0].name, "f");
        assert_eq!(
            model.chat(asking(&[]), Deltas::none()).await.unwrap().message,
            ChatMessage::assistant("done")
        );
        let error = model.chat(asking(&[ChatMessage::user("再来")]), Deltas::none()).await.unwrap_err();
        assert_eq!(error.kind(), "script");
        assert!(error.to_string().contains("step 3") && error.to_string().contains("再来"), "{error}");
        assert_eq!(model.sent().len(), 3);
    }

    #[tokio::test]
    async fn a_conversation_is_found_by_its_assistant_messages() {
        let model = ScriptedModel::conversation([Step::text("1"), Step::text("2")]);
        let (start, later) = (ChatMessage::user("a"), ChatMessage::assistant("1"));
        let said = async |messages: &[ChatMessage]| {
            model.chat(asking(messages), Deltas::none()).await.unwrap().message.text().unwrap().into_owned()
        };
        assert_eq!(said(std::slice::from_ref(&start)).await, "1");
        assert_eq!(said(&[start.clone(), later]).await, "2");
        assert_eq!(said(&[start]).await, "1");
        model.assert_finished();
    }

    #[tokio::test]
    #[should_panic(expected = "1 of 1 steps were never asked for")]
    async fn a_step_left_over_is_noticed() {
        ScriptedModel::new([Step::text("never")]).assert_finished();
    }

    #[tokio::test]
    #[should_panic(expected = "contain `hello`")]
    async fn a_wrong_request_is_noticed_at_the_end_too() {
        let model = ScriptedModel::new([Step::text("x").expect_user("hello")]);
        model.chat(asking(&[ChatMessage::user("bye")]), Deltas::none()).await.unwrap_err();
        model.assert_finished();
    }

    #[tokio::test(start_paused = true)]
    async fn a_step_can_wait_fail_or_hang() {
        let limit = Duration::from_secs(3600);
        let failure = ChatError::Server { status: 500, message: "boom".into() };
        let model =
            ScriptedModel::new([Step::text("late").after(limit / 2), Step::fail(failure), Step::hang()]);
        let begun = tokio::time::Instant::now();
        model.chat(asking(&[]), Deltas::none()).await.unwrap();
        assert_eq!(begun.elapsed(), limit / 2);
        assert_eq!(model.chat(asking(&[]), Deltas::none()).await.unwrap_err().kind(), "server");
        tokio::time::timeout(limit, model.chat(asking(&[]), Deltas::none())).await.unwrap_err();
    }

    #[tokio::test(start_paused = true)]
    async fn a_streamed_step_pauses_before_each_piece() {
        let second = Duration::from_secs(1);
        let begun = tokio::time::Instant::now();
        let told = Arc::new(Mutex::new(Vec::new()));
        let record = told.clone();
        let deltas = Deltas::to(move |delta| record.lock().unwrap().push((begun.elapsed().as_secs(), delta)));
        let step = Step::text("你好世界，早 Ann").streamed(second).breaks();
        let reply = ScriptedModel::new([step]).chat(asking(&[]), deltas).await.unwrap();

        let text = |at, text: &str| (at, Delta::Text(text.into()));
        let broken = [text(1, "你好世界"), text(2, "，早 "), (2, Delta::Again)];
        let anew = [text(3, "你好世界"), text(4, "，早 "), text(5, "Ann")];
        assert_eq!(*told.lock().unwrap(), [broken, anew].concat());
        assert_eq!(reply.time_to_first_token, Some(second));
    }
}

//! The context of one call: what a tool may know and do beside its arguments.

use std::collections::BTreeMap;
use std::sync::Arc;

use hermes_bus::{Envelope, Meta};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::progress::Reporter;
use super::{State, StateNeed, States, ToolError};

/// What a tool may know about the call it serves, and how it tells how far it has come. Cheap to clone.
///
/// A function under [`#[tool]`](macro@crate::tool) takes it as a parameter, by value or by reference, which the model does
/// not see. Tests make one by hand:
///
/// ```
/// use hermes_actors::tool::ToolContext;
///
/// let context = ToolContext::new("t1.0").with_state(vec!["umbrella"]).with_meta("user", "ana");
/// assert_eq!(context.meta().get("user").map(String::as_str), Some("ana"));
/// assert_eq!(context.state::<Vec<&str>>().map(|stock| stock.len()).ok(), Some(1));
/// context.progress("told to nobody, in a test");
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolContext {
    /// The call's id, `t<turn>.<index>`: unique within its task.
    pub call_id: String,
    key: String,
    cancel: CancellationToken,
    deadline: Option<Instant>,
    meta: Option<Meta>,
    states: States,
    pub(crate) reporter: Reporter,
    /// One of the places of a tool that may not run any number of times at once. A body that nobody waits for any more
    /// keeps it by keeping this.
    pub(crate) place: Option<Arc<OwnedSemaphorePermit>>,
}

impl ToolContext {
    /// The context of a call with this id, for tests: no deadline, no meta, no state, and nobody who hears of progress.
    pub fn new(call_id: impl Into<String>) -> Self {
        let call_id = call_id.into();
        Self {
            key: call_id.clone(),
            call_id,
            cancel: CancellationToken::new(),
            deadline: None,
            meta: None,
            states: States::default(),
            reporter: Reporter::default(),
            place: None,
        }
    }

    /// The context of the call that `ask` is.
    pub(crate) fn of_call(
        call_id: &str,
        ask: &Envelope,
        deadline: Instant,
        states: States,
        reporter: Reporter,
    ) -> Self {
        Self {
            call_id: call_id.to_owned(),
            key: ask.id.to_string(),
            cancel: CancellationToken::new(),
            deadline: Some(deadline),
            meta: ask.meta.clone(),
            states,
            reporter,
            place: None,
        }
    }

    /// Unique for this call in the whole journal, and the same for every attempt of it, also after a crash. Send it
    /// along with an order or a payment, and a second attempt does not do it twice.
    pub fn idempotency_key(&self) -> &str {
        &self.key
    }

    /// Returns when the call has ended before the tool did: its time was over, or its task was cancelled. An `async`
    /// tool is dropped then and need not look; one that blocks, or that has spawned something, stops by this.
    ///
    /// # Cancel safety
    /// Nothing is lost when it is dropped.
    pub async fn cancelled(&self) {
        self.cancel.cancelled().await;
    }

    /// Whether the call has ended before the tool did: for loops in tools that block.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// What [`cancelled`](Self::cancelled) waits for, to be handed on; a test may cancel it.
    pub fn cancel_token(&self) -> &CancellationToken {
        &self.cancel
    }

    /// When the time of the call is over, all attempts together; `None` in a test that has set none.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Tells whoever watches what the tool is doing. It is written into no journal and may be lost; the model never
    /// reads it.
    pub fn progress(&self, text: impl Into<String>) {
        self.tell(text.into(), None);
    }

    /// As [`progress`](Self::progress), with how much of the work is done.
    pub fn progress_of(&self, done: u64, total: u64, text: impl Into<String>) {
        self.tell(text.into(), Some((done, total)));
    }

    fn tell(&self, text: String, done_of_total: Option<(u64, u64)>) {
        // What has been told that its call is over makes no progress.
        if !self.is_cancelled() {
            self.reporter.tell(&self.call_id, text, done_of_total);
        }
    }

    /// The strings that came with the task, for all that descends from it: a user, a tenant, a traceparent.
    pub fn meta(&self) -> &BTreeMap<String, String> {
        static NONE: BTreeMap<String, String> = BTreeMap::new();
        self.meta.as_deref().unwrap_or(&NONE)
    }

    /// The state of this type, for tools written by hand; they name it in [`Tool::needs`](super::Tool::needs).
    ///
    /// # Errors
    /// When it is nowhere set, which a tool that names its needs does not meet.
    pub fn state<T: Send + Sync + 'static>(&self) -> Result<State<T>, ToolError> {
        self.states.get().ok_or_else(|| {
            let words = StateNeed::of::<T>().words();
            ToolError::new(format!("the tool cannot work: the program has set no `{words}`")).permanent()
        })
    }

    /// With another idempotency key than the call id.
    #[must_use]
    pub fn with_idempotency_key(self, key: impl Into<String>) -> Self {
        Self { key: key.into(), ..self }
    }

    /// With a deadline.
    #[must_use]
    pub fn with_deadline(self, deadline: Instant) -> Self {
        Self { deadline: Some(deadline), ..self }
    }

    /// With one more string of meta.
    #[must_use]
    pub fn with_meta(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        Arc::make_mut(self.meta.get_or_insert_default()).insert(key.into(), value.into());
        self
    }

    /// With a state.
    #[must_use]
    pub fn with_state<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.states.insert(value);
        self
    }
}

//! The door through which every model is asked.

use std::sync::Arc;

use async_trait::async_trait;

use crate::{ChatError, ChatReply, ChatRequest, Deltas};

/// A model that answers chat requests. Implement it to bring a model of your own.
///
/// ```
/// use async_trait::async_trait;
/// use hermes_llm::{ChatError, ChatMessage, ChatModel, ChatReply, ChatRequest, Deltas, Finish, Usage};
///
/// struct Parrot;
///
/// #[async_trait]
/// impl ChatModel for Parrot {
///     fn name(&self) -> &str {
///         "parrot"
///     }
///
///     async fn chat(&self, request: ChatRequest, _: Deltas) -> Result<ChatReply, ChatError> {
///         let messages = request.messages.decode().map_err(|error| ChatError::bad_reply(error.to_string()))?;
///         let heard = messages.last().and_then(|message| message.text()).unwrap_or_default().into_owned();
///         Ok(ChatReply {
///             message: ChatMessage::assistant(heard),
///             finish: Finish::Stop,
///             usage: Usage::default(),
///             time_to_first_token: None,
///         })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ChatError> {
/// let request = ChatRequest::from_iter([&ChatMessage::user("Hello")]);
/// let reply = Parrot.chat(request, Deltas::none()).await?;
/// assert_eq!(reply.message, ChatMessage::assistant("Hello"));
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait ChatModel: Send + Sync + 'static {
    /// The model's name, for people and statistics.
    fn name(&self) -> &str;

    /// Asks the model once. Whoever implements it does its own retries of what passes by itself.
    ///
    /// What comes of the reply is told to `deltas` as it comes; a model that cannot stream ignores them. They are only
    /// for showing: the reply returned is the truth, and is complete whether or not anyone listens. A model that asks
    /// anew after something was told tells [`Delta::Again`](crate::Delta::Again) first.
    ///
    /// # Errors
    /// A [`ChatError`] whose [`retry`](ChatError::retry) says what may help.
    ///
    /// # Cancel safety
    /// Dropping the future aborts the request; nothing of it goes on, and the model can be asked again. (A server
    /// may still count what it had begun.)
    async fn chat(&self, request: ChatRequest, deltas: Deltas) -> Result<ChatReply, ChatError>;
}

#[async_trait]
impl<T: ChatModel + ?Sized> ChatModel for Arc<T> {
    fn name(&self) -> &str {
        (**self).name()
    }

    async fn chat(&self, request: ChatRequest, deltas: Deltas) -> Result<ChatReply, ChatError> {
        (**self).chat(request, deltas).await
    }
}

#[async_trait]
impl<T: ChatModel + ?Sized> ChatModel for Box<T> {
    fn name(&self) -> &str {
        (**self).name()
    }

    async fn chat(&self, request: ChatRequest, deltas: Deltas) -> Result<ChatReply, ChatError> {
        (**self).chat(request, deltas).await
    }
}

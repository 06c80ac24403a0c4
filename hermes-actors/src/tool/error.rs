//! The error of a call: what went wrong, in plain words for the model.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// What went wrong in a call, in words that let the model try something else.
///
/// Like `anyhow::Error`, and for the same reason, it is not itself a [`std::error::Error`]: only so can `?` turn
/// every error into one. Into a `Box<dyn Error>` it goes with `?` all the same.
#[derive(Clone)]
pub struct ToolError {
    message: String,
    source: Option<Arc<dyn Error + Send + Sync>>,
    permanent: bool,
}

impl ToolError {
    /// An error that says `message` to the model.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), source: None, permanent: false }
    }

    /// Keeps `source` for whoever logs the error. The model reads only the message.
    #[must_use]
    pub fn caused_by(mut self, source: impl Error + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }

    /// Says that another attempt would end the same: a tool with `retries` tries again after every error but such a one.
    #[must_use]
    pub fn permanent(self) -> Self {
        Self { permanent: true, ..self }
    }

    /// Whether another attempt would end the same.
    pub fn is_permanent(&self) -> bool {
        self.permanent
    }

    /// What the model reads.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The error beneath, if one was kept.
    pub fn source(&self) -> Option<&(dyn Error + Send + Sync + 'static)> {
        self.source.as_deref()
    }
}

/// The message is the error's and those of its causes, as `outer: inner`, because the outer one alone
/// ("error sending request") seldom says enough to act on.
impl<E: Error + Send + Sync + 'static> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::new(chain(&error)).caused_by(error)
    }
}

fn chain(error: &dyn Error) -> String {
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_message = cause.to_string();
        // Many errors already repeat their cause.
        if !message.contains(&cause_message) {
            message = format!("{message}: {cause_message}");
        }
        source = cause.source();
    }
    message
}

impl fmt::Display for ToolError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ToolError")
            .field("message", &self.message)
            .field("source", &self.source)
            .finish()
    }
}

/// What stands in a `Box<dyn Error>` for a [`ToolError`].
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
struct Boxed {
    message: String,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

impl From<ToolError> for Box<dyn Error + Send + Sync> {
    fn from(error: ToolError) -> Self {
        Box::new(Boxed { message: error.message, source: error.source })
    }
}

impl From<ToolError> for Box<dyn Error> {
    fn from(error: ToolError) -> Self {
        Box::new(Boxed { message: error.message, source: error.source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("the station did not answer")]
    struct NoAnswer(#[source] std::io::Error);

    #[test]
    fn a_question_mark_turns_any_error_into_one_for_the_model() {
        fn ask() -> Result<(), ToolError> {
            Err(NoAnswer(std::io::Error::other("connection refused")))?
        }
        let error = ask().unwrap_err();
        assert_eq!(error.message(), "the station did not answer: connection refused");
        assert!(error.source().is_some_and(|source| source.is::<NoAnswer>()));
    }

    #[test]
    fn a_cause_that_the_message_repeats_is_said_once() {
        #[derive(Debug, thiserror::Error)]
        #[error("no weather: {0}")]
        struct Repeats(#[source] std::io::Error);

        let error = ToolError::from(Repeats(std::io::Error::other("disk full")));
        assert_eq!(error.to_string(), "no weather: disk full");
    }

    #[test]
    fn it_travels_in_a_boxed_error_with_its_source() {
        fn caller() -> Result<(), Box<dyn Error>> {
            Err(ToolError::new("nothing there").caused_by(std::io::Error::other("gone")))?
        }
        let error = caller().unwrap_err();
        assert_eq!(error.to_string(), "nothing there");
        assert_eq!(error.source().map(ToString::to_string).as_deref(), Some("gone"));
    }
}

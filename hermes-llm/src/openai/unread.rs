//! Why what came with a good status is no reply.

use std::sync::Arc;

use serde_json::Value;

use super::refusal::{provider_message, shorten};
use crate::Cause;

/// Why what came with a good status is no reply.
#[derive(Debug)]
pub(super) enum Unread {
    /// It holds an error that names the HTTP status it would have had.
    Refused { status: u16, body: String },
    /// It cannot be read.
    Unusable { message: String, source: Option<Cause> },
    /// It ended, without an error, before the reply was complete.
    Broken,
}

impl Unread {
    pub(super) fn unusable(message: impl Into<String>, came: &str) -> Self {
        Unread::Unusable {
            message: format!("{}; what came: {}", message.into(), shorten(came)),
            source: None,
        }
    }

    /// Text that should be JSON and is not, or not all of it.
    pub(super) fn no_json(message: &str, error: serde_json::Error, came: &str) -> Self {
        match error.is_eof() {
            true => Unread::Broken,
            false => Self::unusable(format!("{message}: {error}"), came).from(error),
        }
    }

    fn from(self, error: impl std::error::Error + Send + Sync + 'static) -> Self {
        match self {
            Unread::Unusable { message, .. } => Unread::Unusable { message, source: Some(Arc::new(error)) },
            other => other,
        }
    }

    /// The error that `text` holds or is; `error` is what stands under that name, if it is JSON.
    pub(super) fn error_inside(error: &Value, text: &str) -> Self {
        let too_long = error.to_string().contains("context_length_exceeded");
        match status_of(error).or(too_long.then_some(400)) {
            Some(status) => Unread::Refused { status, body: text.to_owned() },
            None => Self::unusable(format!("it holds an error: {}", provider_message(text)), text),
        }
    }

    /// Bytes that should be text and are not, or not all of it.
    pub(super) fn not_utf8(error: std::str::Utf8Error, came: &[u8]) -> Self {
        match error.error_len() {
            None => Unread::Broken,
            Some(_) => Self::unusable(format!("it is not UTF-8 ({error})"), &String::from_utf8_lossy(came))
                .from(error),
        }
    }
}

/// The HTTP status in an error's code, be it a number or a string.
fn status_of(error: &Value) -> Option<u16> {
    let code = error.get("code")?;
    let number = code.as_u64().or_else(|| code.as_str()?.parse().ok());
    number.and_then(|code| u16::try_from(code).ok()).filter(|code| (400..600).contains(code))
}

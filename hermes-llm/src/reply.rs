//! What a model answers.

use std::iter::Sum;
use std::ops::{Add, AddAssign};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::ChatMessage;

/// The answer to a [`ChatRequest`](crate::ChatRequest).
#[derive(Clone, Debug, PartialEq)]
pub struct ChatReply {
    /// What the model said or asked for.
    pub message: ChatMessage,
    /// Why it stopped, in the provider's words: some say `stop` although they call tools, so look at the message.
    pub finish: Finish,
    /// What it cost; zero where the provider does not say.
    pub usage: Usage,
    /// From sending to the first token; known only when the reply was streamed.
    pub time_to_first_token: Option<Duration>,
}

/// Why the model stopped. Serialises as the provider's string; null or absent is read as `Unknown("")`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finish {
    /// It had said all.
    Stop,
    /// It waits for tools.
    ToolCalls,
    /// It ran into the limit of tokens: the reply is truncated.
    Length,
    /// The provider held the reply back.
    ContentFilter,
    /// Something else, as the provider said it.
    Unknown(String),
}

impl Finish {
    /// The provider's word.
    pub fn as_str(&self) -> &str {
        match self {
            Finish::Stop => "stop",
            Finish::ToolCalls => "tool_calls",
            Finish::Length => "length",
            Finish::ContentFilter => "content_filter",
            Finish::Unknown(word) => word,
        }
    }
}

impl From<&str> for Finish {
    fn from(word: &str) -> Self {
        match word {
            "stop" => Finish::Stop,
            "tool_calls" => Finish::ToolCalls,
            "length" => Finish::Length,
            "content_filter" => Finish::ContentFilter,
            other => Finish::Unknown(other.to_owned()),
        }
    }
}

impl Default for Finish {
    fn default() -> Self {
        Finish::Unknown(String::new())
    }
}

impl Serialize for Finish {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Finish {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = Option::<String>::deserialize(deserializer)?.unwrap_or_default();
        Ok(Finish::from(word.as_str()))
    }
}

/// Tokens used, as the provider counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Usage {
    /// Tokens of the request, cached ones included.
    pub input_tokens: u64,
    /// Tokens of the reply.
    pub output_tokens: u64,
    /// Those of the input that came from the provider's cache.
    pub cached_tokens: u64,
}

impl Add for Usage {
    type Output = Usage;

    /// Adds; stops at the largest number, for it counts what a stranger reports.
    fn add(self, other: Usage) -> Usage {
        Usage {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            cached_tokens: self.cached_tokens.saturating_add(other.cached_tokens),
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Usage) {
        *self = *self + other;
    }
}

impl Sum for Usage {
    fn sum<I: Iterator<Item = Usage>>(all: I) -> Usage {
        all.fold(Usage::default(), Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finish_keeps_the_providers_word() {
        for word in ["stop", "tool_calls", "length", "content_filter", "eos", ""] {
            let json = format!("\"{word}\"");
            let finish: Finish = serde_json::from_str(&json).unwrap();
            assert_eq!(serde_json::to_string(&finish).unwrap(), json);
        }
        assert_eq!(serde_json::from_str::<Finish>("null").unwrap(), Finish::Unknown(String::new()));
    }

    #[test]
    fn usage_adds_up() {
        let one = Usage { input_tokens: 10, output_tokens: 2, cached_tokens: 8 };
        let two = Usage { input_tokens: 20, output_tokens: 4, cached_tokens: 16 };
        assert_eq!(one + one, two);
        assert_eq!([one, one].into_iter().sum::<Usage>(), two);
    }
}

//! Chance: what tools and models answer, and in which order.

use std::sync::Arc;

use hermes_actors::Spent;
use hermes_actors::protocol::{LlmFailed, LlmReplied, Purpose, ToolFailed, ToolFailureKind, ToolReturned};
use hermes_actors::tool::Image;
use hermes_bus::{Body, EnvelopeFailed, FailureKind, Kind, RawPayload};
use hermes_llm::{ChatMessage, Finish, ToolCall, Usage};
use serde_json::{Value, json};

/// Where chance comes from: numbers that proptest gave, then zeros, which always lead to the end.
pub struct Chance(pub std::vec::IntoIter<u8>);

impl Chance {
    pub fn below(&mut self, limit: usize) -> usize {
        self.0.next().map_or(0, usize::from) % limit
    }
    pub fn is_spent(&self) -> bool {
        self.0.len() == 0
    }
    pub fn of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }

    pub fn tool_end(&mut self, call_id: &str, was_aborted: bool) -> Body {
        let failed = |kind| Body::new(ToolFailed::new(call_id, kind, "坏了"));
        match self.below(8) {
            _ if was_aborted => failed(ToolFailureKind::Cancelled),
            4 => failed(ToolFailureKind::Error),
            5 => failed(ToolFailureKind::Panicked),
            6 => self.lost(),
            7 => self.strange(),
            _ => {
                let call_id = call_id.to_owned();
                Body::new(ToolReturned {
                    call_id,
                    result: json!({"n": [1.5, "晴"]}),
                    shown: "OK: 晴 🌞".to_owned(),
                    images: vec![Image::new("image/png", "晴"); self.below(2)],
                    spent: Spent { llm_calls: u32::MAX, ..Spent::default() },
                })
            }
        }
    }

    pub fn chat_end(&mut self, turn: u32) -> Body {
        let (finish, message) = match self.below(12) {
            1..6 => (Finish::ToolCalls, ChatMessage::assistant_calls(self.calls(turn))),
            6 => (Finish::Length, ChatMessage::assistant_calls(self.calls(turn))),
            7 => (Finish::Stop, ChatMessage::assistant(" ")),
            8 => (Finish::ContentFilter, ChatMessage::assistant("no")),
            9 => return self.lost(),
            10 => return self.strange(),
            11 => return Body::new(llm_failed(self.of(&["server", "context_exceeded"]))),
            _ => (Finish::Stop, ChatMessage::assistant("好了")),
        };
        let mut message = message;
        message.extra.insert("score".to_owned(), self.score());
        let usage = Usage { input_tokens: u64::MAX - 1, output_tokens: 3, cached_tokens: 0 };
        Body::new(LlmReplied {
            purpose: Purpose::Turn,
            message,
            finish,
            usage,
            time_to_first_token_ms: None,
            provider_ids: [("t1.0".to_owned(), "call_0".to_owned())].into(),
        })
    }

    /// A number of which a hasty reader of JSON makes another.
    fn score(&mut self) -> Value {
        json!(f64::from_bits(0x3fb9_9999_9999_9999 + 977 * self.below(256) as u64))
    }

    fn calls(&mut self, turn: u32) -> Vec<ToolCall> {
        let count = 1 + self.below(6);
        // An llm actor of another make may give ids that are not ours.
        let ours = self.below(16) < 15;
        (0..count)
            .map(|index| self.call(if ours { format!("t{turn}.{index}") } else { "call_0".to_owned() }))
            .collect()
    }

    fn call(&mut self, id: String) -> ToolCall {
        let name =
            self.of(&["add", "slow", "researcher", "add", "slow", "researcher", "wipe", "no_such_tool"]);
        let arguments = self.of(&[r#"{"a":1e2,"b":[2]}"#, "{}", "", "{}", "[1]", r#"{"a":"#]);
        ToolCall::new(id, name, arguments)
    }

    fn lost(&mut self) -> Body {
        use FailureKind::*;
        Body::new(EnvelopeFailed::new(
            self.of(&[Undelivered, Expired, Rejected, Unacceptable, Restarted]),
            "路上丢了",
        ))
    }

    /// An end that is none of those that were promised, or has not their shape.
    pub fn strange(&mut self) -> Body {
        let name = self.of(&["tool.returned", "tool.failed", "llm.replied", "llm.failed", "shop.sold"]);
        raw(name, Kind::Event, &json!({"call_id": 7}))
    }
}

fn llm_failed(kind: &str) -> LlmFailed {
    LlmFailed { purpose: Purpose::Turn, kind: kind.to_owned(), message: "down".to_owned(), endpoint: false }
}

/// A payload as it comes from outside.
pub fn raw(name: &str, kind: Kind, json: &Value) -> Body {
    let json = serde_json::value::to_raw_value(json).unwrap();
    Body::new(RawPayload { name: Arc::from(name), kind, json })
}

//! What the value of a setting may be, wherever it was said.

use std::time::Duration;

use hermes_llm::Endpoint;
use serde_json::{Map, Value};

use super::yaml::{Node, Shape, Wrong};
use crate::terminal::clip;
use crate::{duration, guess};

/// How much of a value an error repeats.
const REPEATED: usize = 60;

/// What a value may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The address of an endpoint.
    Address,
    /// Any text but an empty one.
    Text,
    /// A text that may be of blanks only.
    Exact,
    /// A text that nothing repeats.
    Secret,
    /// The name of a variable of the environment.
    Variable,
    /// A path; in a file, from the folder of that file on.
    Path,
    /// A path, or the word `memory`.
    Journal,
    /// A whole number above zero.
    Count,
    /// A whole number.
    Whole,
    /// A number from 0 to 2.
    Temperature,
    /// A time in seconds.
    Seconds,
    /// True or false.
    Switch,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A list of such words.
    SomeOf(&'static [&'static str]),
    /// One text or several.
    Texts,
    /// Names with a secret each.
    Secrets,
    /// Names with any value each.
    Fields,
    /// Anything.
    Any,
}

/// What is made of others.
enum Parts {
    List(Kind),
    Map(Kind),
}

impl Kind {
    fn parts(self) -> Option<Parts> {
        match self {
            Self::SomeOf(words) => Some(Parts::List(Self::OneOf(words))),
            Self::Texts => Some(Parts::List(Self::Exact)),
            Self::Secrets => Some(Parts::Map(Self::Secret)),
            Self::Fields => Some(Parts::Map(Self::Any)),
            _ => None,
        }
    }

    /// In words.
    pub fn words(self) -> String {
        match self {
            Self::Address => "a URL".into(),
            Self::Text | Self::Exact | Self::Secret => {
                "a text (which needs quotes if it looks like a number)".into()
            }
            Self::Variable => "the name of an environment variable, such as DEEPSEEK_API_KEY".into(),
            Self::Path => "a path".into(),
            Self::Journal => "a path or `memory`".into(),
            Self::Count => "a whole number from 1 to 4294967295".into(),
            Self::Whole => "a whole number".into(),
            Self::Temperature => "a number from 0 to 2".into(),
            Self::Seconds => "a number of seconds above zero, such as 90 or 0.5".into(),
            Self::Switch => "true or false".into(),
            Self::OneOf(words) => format!("one of {}", words.join(", ")),
            Self::SomeOf(words) => format!("a list of some of {}", words.join(", ")),
            Self::Texts => "a text or a list of texts".into(),
            Self::Secrets => "a map of names to texts".into(),
            Self::Fields => "a map of names to values".into(),
            Self::Any => "a value".into(),
        }
    }

    /// Reads what a file says.
    ///
    /// # Errors
    /// Where it says what this cannot be, and what it can.
    pub fn read(self, name: &str, node: &Node) -> Result<Value, Wrong> {
        match (self.parts(), &node.shape) {
            (Some(Parts::List(kind)), Shape::List(nodes)) => {
                nodes.iter().enumerate().map(|(at, node)| kind.read(&format!("{name}[{at}]"), node)).collect()
            }
            (Some(Parts::Map(kind)), Shape::Map(entries)) => {
                let read = entries.iter().map(|(entry, node)| {
                    let value = kind.read(&format!("{name}.{}", entry.text), node)?;
                    Ok((entry.text.clone(), value))
                });
                Ok(Value::Object(read.collect::<Result<Map<_, _>, Wrong>>()?))
            }
            _ => self
                .check(node.json())
                .map_err(|why| Wrong { place: node.place, words: format!("`{name}`: {why}") }),
        }
    }

    /// Reads a word of the environment or of the command line.
    ///
    /// # Errors
    /// What it can be.
    pub fn parse(self, text: &str) -> Result<Value, String> {
        let value = match self {
            Self::Count | Self::Whole | Self::Temperature | Self::Seconds | Self::Switch => {
                serde_json::from_str(text).unwrap_or_else(|_| text.into())
            }
            Self::SomeOf(words) => {
                let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
                return names.map(|name| Self::OneOf(words).check(name.into())).collect();
            }
            _ => text.into(),
        };
        self.check(value)
    }

    /// The value in the form that the program uses.
    fn check(self, value: Value) -> Result<Value, String> {
        if let (Self::Address, Some(text)) = (self, value.as_str()) {
            // What is wrong with an address is for the client to say; the model's name is of no account here.
            return Endpoint::new(text, "any").map(|_| value).map_err(|error| error.to_string());
        }
        if self.accepts(&value) {
            return Ok(if self == Self::Texts && value.is_string() {
                Value::Array(vec![value])
            } else {
                value
            });
        }
        let meant = match (self, value.as_str()) {
            (Self::OneOf(words), Some(word)) => guess::meant(word, words.iter().copied()),
            _ => String::new(),
        };
        Err(format!("{} is not {}{meant}", self.found(&value), self.words()))
    }

    fn accepts(self, value: &Value) -> bool {
        let text = value.as_str();
        let filled = text.is_some_and(|text| !text.trim().is_empty());
        match self {
            Self::Address | Self::Text | Self::Secret | Self::Path | Self::Journal => filled,
            Self::Exact | Self::Texts => text.is_some_and(|text| !text.is_empty()),
            Self::Variable => text.is_some_and(is_variable),
            Self::Count => value.as_u64().is_some_and(|number| (1..=u32::MAX.into()).contains(&number)),
            Self::Whole => value.is_i64(),
            Self::Temperature => value.as_f64().is_some_and(|number| (0.0..=2.0).contains(&number)),
            Self::Seconds => value.as_f64().and_then(seconds).is_some(),
            Self::Switch => value.is_boolean(),
            Self::OneOf(words) => text.is_some_and(|text| words.contains(&text)),
            Self::SomeOf(_) | Self::Secrets | Self::Fields => false,
            Self::Any => true,
        }
    }

    fn found(self, value: &Value) -> String {
        match (self, value) {
            // A key may stand where the name of a variable should.
            (Self::Secret | Self::Secrets | Self::Variable, Value::String(text))
                if !text.trim().is_empty() =>
            {
                "a text that is not shown here".into()
            }
            (Self::Secret | Self::Secrets, Value::Number(_)) => "a number".into(),
            (_, Value::Null) => "an empty value".into(),
            (_, Value::Array(_)) => "a list".into(),
            (_, Value::Object(_)) => "a map".into(),
            (_, value) => clip(&value.to_string(), REPEATED),
        }
    }
}

/// The time that a setting in seconds means.
pub fn seconds(seconds: f64) -> Option<Duration> {
    let time = Duration::try_from_secs_f64(seconds).ok()?;
    // Less than a millisecond is none for the clock.
    (time.as_millis() > 0 && time <= duration::LONGEST).then_some(time)
}

fn is_variable(text: &str) -> bool {
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    begins && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

//! The shapes that come: a whole completion, and a chunk of one, which differ only in where the message stands.

use std::borrow::Cow;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess};
use serde_json::Value;

use super::loose::{Fields, Loose, read_fields};

/// A completion, or a chunk of one; everything may be missing.
#[derive(Debug, Default)]
pub(super) struct Completion<'a> {
    /// The first of the choices: we never ask for more.
    pub(super) choice: Option<Choice<'a>>,
    pub(super) usage: Value,
    error: Value,
    object: Loose<'a>,
}

impl Completion<'_> {
    /// The error inside, wherever it stands.
    pub(super) fn error(&self) -> Option<&Value> {
        let in_choice = self.choice.as_ref().map(|choice| &choice.error);
        [Some(&self.error), in_choice].into_iter().flatten().find(|error| !is_blank(error))
    }

    /// Whether the whole object is an error.
    pub(super) fn is_error(&self) -> bool {
        self.object.as_text() == Some("error")
    }
}

/// Some servers say that there is no error.
fn is_blank(error: &Value) -> bool {
    match error {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

impl<'de> Fields<'de> for Completion<'de> {
    fn field<A: MapAccess<'de>>(&mut self, key: Cow<'de, str>, map: &mut A) -> Result<(), A::Error> {
        match &*key {
            "choices" => {
                let choices: Option<Vec<Choice>> = map.next_value()?;
                self.choice = choices.and_then(|choices| choices.into_iter().next());
            }
            "usage" => self.usage = map.next_value()?,
            "error" => self.error = map.next_value()?,
            "object" => self.object = map.next_value()?,
            _ => drop(map.next_value::<IgnoredAny>()?),
        }
        Ok(())
    }
}

/// One of the choices. A whole completion holds a message and a chunk a delta, but not every server keeps to that.
#[derive(Debug, Default)]
pub(super) struct Choice<'a> {
    pub(super) message: Option<Part<'a>>,
    pub(super) delta: Option<Part<'a>>,
    pub(super) finish_reason: Loose<'a>,
    error: Value,
}

impl Choice<'_> {
    /// Whether its message holds more than what we read and null.
    pub(super) fn says_what_we_do_not_know(&self) -> bool {
        let part = self.delta.as_ref().or(self.message.as_ref());
        part.is_some_and(|part| part.unknown.iter().any(|(_, value)| !value.is_nothing()))
    }
}

impl<'de> Fields<'de> for Choice<'de> {
    fn field<A: MapAccess<'de>>(&mut self, key: Cow<'de, str>, map: &mut A) -> Result<(), A::Error> {
        match &*key {
            "message" => self.message = map.next_value()?,
            "delta" => self.delta = map.next_value()?,
            "finish_reason" => self.finish_reason = map.next_value()?,
            "error" => self.error = map.next_value()?,
            _ => drop(map.next_value::<IgnoredAny>()?),
        }
        Ok(())
    }
}

/// Keys that we do not know, with their values, in the order they came.
pub(super) type Unknown<'a> = Vec<(Cow<'a, str>, Loose<'a>)>;

/// A message, or a part of one.
#[derive(Debug, Default)]
pub(super) struct Part<'a> {
    pub(super) content: Loose<'a>,
    pub(super) tool_calls: Vec<CallPart<'a>>,
    pub(super) unknown: Unknown<'a>,
}

impl<'de> Fields<'de> for Part<'de> {
    fn field<A: MapAccess<'de>>(&mut self, key: Cow<'de, str>, map: &mut A) -> Result<(), A::Error> {
        match &*key {
            "content" => self.content = map.next_value()?,
            "tool_calls" => self.tool_calls = map.next_value::<Option<_>>()?.unwrap_or_default(),
            // Whatever the server calls it, or forgets to: this is what the model said.
            "role" | "tool_call_id" => drop(map.next_value::<IgnoredAny>()?),
            _ => self.unknown.push((key, map.next_value()?)),
        }
        Ok(())
    }
}

/// A tool call, or a part of one.
#[derive(Debug, Default)]
pub(super) struct CallPart<'a> {
    pub(super) index: Loose<'a>,
    pub(super) id: Loose<'a>,
    pub(super) function: Function<'a>,
    pub(super) unknown: Unknown<'a>,
}

impl<'de> Fields<'de> for CallPart<'de> {
    fn field<A: MapAccess<'de>>(&mut self, key: Cow<'de, str>, map: &mut A) -> Result<(), A::Error> {
        match &*key {
            "index" => self.index = map.next_value()?,
            "id" => self.id = map.next_value()?,
            "function" => self.function = map.next_value()?,
            "type" => drop(map.next_value::<IgnoredAny>()?),
            _ => self.unknown.push((key, map.next_value()?)),
        }
        Ok(())
    }
}

/// What a tool call calls, or a part of that.
#[derive(Debug, Default)]
pub(super) struct Function<'a> {
    pub(super) name: Loose<'a>,
    pub(super) arguments: Loose<'a>,
    pub(super) unknown: Unknown<'a>,
}

impl<'de> Fields<'de> for Function<'de> {
    fn field<A: MapAccess<'de>>(&mut self, key: Cow<'de, str>, map: &mut A) -> Result<(), A::Error> {
        match &*key {
            "name" => self.name = map.next_value()?,
            "arguments" => self.arguments = map.next_value()?,
            _ => self.unknown.push((key, map.next_value()?)),
        }
        Ok(())
    }
}

macro_rules! read_field_by_field {
    ($($shape:ident)*) => {$(
        impl<'de> Deserialize<'de> for $shape<'de> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                read_fields(deserializer)
            }
        }
    )*};
}

read_field_by_field!(Completion Choice Part CallPart Function);

//! A tool call as the model asked for it.

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::render::sorted_entries;

/// One tool call of an assistant message, in the OpenAI shape
/// `{"id":…,"type":"function","function":{"name":…,"arguments":"…"}}`.
///
/// Reading is tolerant: a missing id or name is `""`, arguments given as an object are rendered to text, missing or
/// null arguments are `""`. `arguments` is otherwise exactly the text the model sent, valid JSON or not.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(from = "Wire")]
pub struct ToolCall {
    /// The provider's id; may be empty, repeated or foreign.
    pub id: String,
    /// The tool asked for.
    pub name: String,
    /// The text of the arguments.
    pub arguments: String,
    /// Keys beside `id`, `type` and `function`, given back as they came. Unknown keys *inside* `function` are kept
    /// here under `function`, and go back there.
    pub extra: Map<String, Value>,
}

impl ToolCall {
    /// A call with these arguments, given as text.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        ToolCall { id: id.into(), name: name.into(), arguments: arguments.into(), extra: Map::new() }
    }
}

#[derive(Deserialize)]
struct Wire {
    #[serde(default)]
    id: Value,
    #[serde(default, rename = "type")]
    _type: Value,
    #[serde(default)]
    function: Option<Function>,
    #[serde(flatten)]
    extra: Map<String, Value>,
}

#[derive(Default, Deserialize)]
struct Function {
    #[serde(default)]
    name: Value,
    #[serde(default)]
    arguments: Value,
    #[serde(flatten)]
    extra: Map<String, Value>,
}

impl From<Wire> for ToolCall {
    fn from(wire: Wire) -> Self {
        let function = wire.function.unwrap_or_default();
        let mut extra = wire.extra;
        if !function.extra.is_empty() {
            extra.insert("function".into(), Value::Object(function.extra));
        }
        ToolCall { id: text(wire.id), name: text(function.name), arguments: text(function.arguments), extra }
    }
}

/// A string as it is, null as nothing, all else as its JSON.
fn text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

impl Serialize for ToolCall {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        map.serialize_entry("type", "function")?;
        map.serialize_entry("function", &FunctionOf(self))?;
        for (key, value) in sorted_entries(&self.extra, is_own_key) {
            map.serialize_entry(key, &value)?;
        }
        map.end()
    }
}

fn is_own_key(key: &str) -> bool {
    matches!(key, "id" | "type" | "function")
}

fn is_function_key(key: &str) -> bool {
    matches!(key, "name" | "arguments")
}

struct FunctionOf<'a>(&'a ToolCall);

impl Serialize for FunctionOf<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &self.0.name)?;
        map.serialize_entry("arguments", &self.0.arguments)?;
        let unknown = self.0.extra.get("function").and_then(Value::as_object);
        for (key, value) in unknown.map(|map| sorted_entries(map, is_function_key)).unwrap_or_default() {
            map.serialize_entry(key, &value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: Value) -> ToolCall {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn arguments_stay_the_text_that_was_sent() {
        let call = read(
            json!({"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{ \"a\":1, "}}),
        );
        assert_eq!(call, ToolCall::new("c1", "f", "{ \"a\":1, "));
        assert_eq!(read(serde_json::to_value(&call).unwrap()), call);
    }

    #[test]
    fn reads_what_servers_send_instead_of_text() {
        let of =
            |arguments: Value| read(json!({"function": {"name": "f", "arguments": arguments}})).arguments;
        assert_eq!(of(json!({"city": "北京"})), r#"{"city":"北京"}"#);
        assert_eq!(of(json!(null)), "");
        assert_eq!(of(json!("")), "");
        assert_eq!(read(json!({"id": null, "function": {"name": "f"}})), ToolCall::new("", "f", ""));
        assert_eq!(read(json!({"id": 7, "function": null})), ToolCall::new("7", "", ""));
    }

    #[test]
    fn unknown_keys_go_back_where_they_were() {
        let value = json!({"id": "c", "type": "function", "index": 0, "extra_content": {"sig": "x"},
            "function": {"name": "f", "arguments": "{}", "thought": "t"}});
        let call = read(value.clone());
        assert_eq!(call.extra["index"], 0);
        assert_eq!(serde_json::to_value(&call).unwrap(), value);
    }
}

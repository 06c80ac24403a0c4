//! The declaration: what a tool says of itself to models, to the journal and to the rules that guard it.

use super::{Effect, schema_for};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::time::Duration;

/// The longest name that every provider accepts.
const NAME_LENGTH: usize = 64;

/// What a tool says of itself.
///
/// Its JSON form is a promise: it is journaled as part of an agent's definition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Declaration {
    /// The name models call it by: 1 to 64 of `a-z A-Z 0-9 _ -`.
    pub name: String,
    /// What it does and when to use it, in words for the model.
    pub description: String,
    /// A JSON Schema of type `object`.
    pub parameters: Value,
    /// What a call may do to the world.
    #[serde(default)]
    pub effect: Effect,
    /// Whether a call reaches other machines.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub open_world: bool,
    /// How long one call may take, counted from when it is sent; `None` leaves it to the agent's default.
    /// Journaled as `timeout_ms`, in whole milliseconds.
    #[serde(rename = "timeout_ms", with = "milliseconds", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<u64>")]
    pub timeout: Option<Duration>,
    /// Whether equal calls one after the other are what it is for (a clock, a queue). Declared only: nothing guards
    /// against repeats yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeatable: bool,
    /// How many calls may run at once in the whole process; who waits for a place waits within its timeout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_concurrent: Option<u32>,
    /// How often a call that failed is tried again, with back-off, within its timeout; not after a
    /// `ToolError` that is permanent.
    #[serde(default, skip_serializing_if = "is_none")]
    pub retries: u32,
}

fn is_none(retries: &u32) -> bool {
    *retries == 0
}

impl Declaration {
    /// A tool that may change the world, with the default timeout.
    ///
    /// An object schema without `properties` gets empty ones, which some providers insist on.
    /// Nothing is refused here: see [`check`](Self::check).
    pub fn new(name: impl Into<String>, description: impl Into<String>, mut parameters: Value) -> Self {
        if let Value::Object(schema) = &mut parameters
            && schema.get("type").is_some_and(|kind| kind == "object")
        {
            schema.entry("properties").or_insert_with(|| Value::Object(Map::new()));
        }
        Self {
            name: name.into(),
            description: description.into(),
            parameters,
            effect: Effect::default(),
            open_world: false,
            timeout: None,
            repeatable: false,
            max_concurrent: None,
            retries: 0,
        }
    }

    /// As [`new`](Self::new), with the schema of `T`, a struct with one field for each parameter.
    pub fn of<T: JsonSchema>(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self::new(name, description, schema_for::<T>())
    }

    /// Declares what a call may do to the world.
    #[must_use]
    pub fn effect(mut self, effect: Effect) -> Self {
        self.effect = effect;
        self
    }

    /// Declares that a call reaches other machines.
    #[must_use]
    pub fn open_world(mut self) -> Self {
        self.open_world = true;
        self
    }

    /// Sets how long one call may take.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Declares that equal calls one after the other are what it is for.
    #[must_use]
    pub fn repeatable(mut self) -> Self {
        self.repeatable = true;
        self
    }

    /// Sets how many calls may run at once in the whole process: 1 or more.
    #[must_use]
    pub fn max_concurrent(mut self, calls: u32) -> Self {
        self.max_concurrent = Some(calls);
        self
    }

    /// Sets how often a call that failed is tried again. Only for what may run twice: `read_only` or `idempotent`.
    #[must_use]
    pub fn retries(mut self, times: u32) -> Self {
        self.retries = times;
        self
    }

    /// Whether every provider will accept this declaration, and it does not contradict itself.
    ///
    /// # Errors
    /// One bad name or schema makes a provider refuse the whole request, so each has its own error,
    /// which says what to change.
    pub fn check(&self) -> Result<(), DeclarationError> {
        if !is_name(&self.name) {
            return Err(DeclarationError::Name { name: self.name.clone() });
        }
        let fault = |fault| DeclarationError::Parameters { name: self.name.clone(), fault };
        let schema = self.parameters.as_object().ok_or_else(|| fault("they are not a JSON object"))?;
        if schema.get("type").is_none_or(|kind| kind != "object") {
            return Err(fault("their `type` is not \"object\""));
        }
        if schema.get("properties").is_some_and(|properties| !properties.is_object()) {
            return Err(fault("their `properties` are not a JSON object"));
        }
        if self.retries > 0 && !self.effect.may_run_again() {
            return Err(DeclarationError::Retries { name: self.name.clone() });
        }
        if self.max_concurrent == Some(0) {
            return Err(DeclarationError::NoPlaces { name: self.name.clone() });
        }
        Ok(())
    }
}

fn is_name(name: &str) -> bool {
    (1..=NAME_LENGTH).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// Why a [`Declaration`] cannot be: providers would refuse it, or it contradicts itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeclarationError {
    /// The name has a character or a length that some provider refuses.
    #[error(
        "`{name}` cannot be the name of a tool: providers accept 1 to 64 of the characters a-z A-Z 0-9 _ -. \
         Give it another, with #[tool(name = \"…\")] or in its Declaration"
    )]
    Name {
        /// The name as declared.
        name: String,
    },
    /// The parameters are no schema of an object.
    #[error(
        "the parameters of the tool `{name}` cannot be offered to a model: {fault}. They must be a JSON Schema \
         such as {{\"type\": \"object\", \"properties\": {{…}}, \"required\": […]}}"
    )]
    Parameters {
        /// The tool's name.
        name: String,
        /// What is wrong with them.
        fault: &'static str,
    },
    /// What may change the world each time it runs must not be tried again.
    #[error(
        "the tool `{name}` has retries, but a second attempt may change the world a second time: declare it read_only \
         or idempotent, or leave the retries out"
    )]
    Retries {
        /// The tool's name.
        name: String,
    },
    /// No call could ever run.
    #[error("the tool `{name}` may run none at once: set its max_concurrent to 1 or more")]
    NoPlaces {
        /// The tool's name.
        name: String,
    },
}

/// A duration as a whole number of milliseconds.
mod milliseconds {
    use serde::{Deserialize, Deserializer, Serializer};
    use std::time::Duration;

    pub fn serialize<S: Serializer>(timeout: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
        match timeout {
            Some(timeout) => serializer.serialize_u64(u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX)),
            None => serializer.serialize_none(),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(deserializer)?.map(Duration::from_millis))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_declaration_is_journaled_without_what_is_usual() {
        let usual = Declaration::new("now", "The time.", json!({"type": "object"}));
        assert_eq!(
            serde_json::to_value(&usual).unwrap(),
            json!({"name": "now", "description": "The time.", "effect": "may_change",
                   "parameters": {"type": "object", "properties": {}}})
        );

        let rare = usual.effect(Effect::ReadOnly).open_world().timeout(Duration::from_millis(1_500));
        let line = serde_json::to_value(&rare).unwrap();
        assert_eq!(line["effect"], "read_only");
        assert_eq!(line["open_world"], true);
        assert_eq!(line["timeout_ms"], 1_500);
        assert_eq!(serde_json::from_value::<Declaration>(line).unwrap(), rare);
    }

    #[test]
    fn a_name_that_some_provider_refuses_is_an_error_that_says_what_to_do() {
        for name in ["", "查天气", "get weather", "fs.read", &"x".repeat(65)] {
            let error = Declaration::new(name, "", json!({"type": "object"})).check().unwrap_err();
            assert!(error.to_string().contains("1 to 64 of the characters"), "{error}");
        }
        assert_eq!(Declaration::new("get-weather_2", "", json!({"type": "object"})).check(), Ok(()));
    }

    #[test]
    fn what_may_change_the_world_is_not_tried_again() {
        let tool = Declaration::new("pay", "Pays.", json!({"type": "object"})).retries(2);
        let error = tool.check().unwrap_err();
        assert!(error.to_string().contains("declare it read_only or idempotent"), "{error}");
        assert_eq!(tool.clone().effect(Effect::Idempotent).check(), Ok(()));
        let error = tool.effect(Effect::ReadOnly).max_concurrent(0).check().unwrap_err();
        assert_eq!(error, DeclarationError::NoPlaces { name: "pay".to_owned() });
    }

    #[test]
    fn parameters_that_are_no_object_schema_are_an_error() {
        for parameters in [json!(null), json!({}), json!({"type": "string"}), json!([])] {
            let error = Declaration::new("now", "", parameters).check().unwrap_err();
            assert!(matches!(error, DeclarationError::Parameters { .. }), "{error}");
        }
    }
}

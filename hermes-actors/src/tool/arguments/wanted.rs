//! What a schema wants, and what stands there instead: in words for a model that writes JSON.

use serde_json::{Number, Value};

/// How much of a text is repeated to whoever wrote it.
const REPEATED: usize = 40;

/// What stands there, and what was wanted: `` `fahrenheit` is not one of `celsius`, `kelvin` ``.
pub(super) fn mismatch(value: &Value, schema: &Value) -> String {
    format!("{} is not {}", found(value, schema), wanted(schema))
}

/// `900`, `the string "Rome"`, `an array of 3`.
fn found(value: &Value, schema: &Value) -> String {
    let beside_words = schema.get("enum").is_some() || schema.get("const").is_some();
    match value {
        Value::String(text) if text.chars().count() > REPEATED => {
            let start: String = text.chars().take(REPEATED).collect();
            format!("the string {}", Value::from(format!("{start}…")))
        }
        Value::String(_) if beside_words => quoted(value),
        Value::String(_) => format!("the string {value}"),
        Value::Array(items) => format!("an array of {}", items.len()),
        Value::Object(_) => "this object".to_owned(),
        plain => plain.to_string(),
    }
}

/// ``one of `celsius`, `kelvin` ``, `a whole number from 0 to 255`, `an array`.
pub(super) fn wanted(schema: &Value) -> String {
    if let Some(value) = schema.get("const") {
        return quoted(value);
    }
    if let Some(Value::Array(values)) = schema.get("enum") {
        let values: Vec<String> = values.iter().map(quoted).collect();
        return match values.as_slice() {
            [only] => only.clone(),
            values => format!("one of {}", values.join(", ")),
        };
    }
    let joined = |choices: Vec<String>| choices.join(" or ");
    match (schema.get("type"), choices(schema), schema.get("$ref")) {
        (Some(Value::Array(kinds)), ..) => {
            joined(kinds.iter().filter_map(Value::as_str).map(|kind| of_kind(kind, schema)).collect())
        }
        (Some(Value::String(kind)), ..) => of_kind(kind, schema),
        (_, Some(choices), _) => joined(choices.iter().map(wanted).collect()),
        (_, _, Some(Value::String(name))) => format!("a `{}`", name.rsplit('/').next().unwrap_or(name)),
        _ => "what its schema allows".to_owned(),
    }
}

/// The schemas of which a value must fit one.
pub(super) fn choices(schema: &Value) -> Option<&Vec<Value>> {
    schema.get("anyOf").or(schema.get("oneOf"))?.as_array()
}

/// A string as it is, anything else as JSON.
fn quoted(value: &Value) -> String {
    match value {
        Value::String(text) => format!("`{text}`"),
        other => format!("`{other}`"),
    }
}

fn of_kind(kind: &str, schema: &Value) -> String {
    match kind {
        "string" => format!("a string{}", size(schema, "minLength", "maxLength")),
        "integer" => format!("a whole number{}", range(schema)),
        "number" => format!("a number{}", range(schema)),
        "boolean" => "true or false".to_owned(),
        "array" => format!("an array{}", size(schema, "minItems", "maxItems")),
        "object" => format!("an object{}", with_properties(schema)),
        other => other.to_owned(),
    }
}

fn range(schema: &Value) -> String {
    let number = |key: &str| schema.get(key).and_then(Value::as_number);
    let above = number("exclusiveMinimum").map(|above| format!(", above {above}"));
    let below = number("exclusiveMaximum").map(|below| format!(", below {below}"));
    let closed = between(number("minimum"), number("maximum"));
    [Some(closed), above, below].into_iter().flatten().collect()
}

fn between(least: Option<&Number>, most: Option<&Number>) -> String {
    match (least, most) {
        (Some(least), Some(most)) => format!(" from {least} to {most}"),
        (Some(least), None) => format!(", {least} or more"),
        (None, Some(most)) => format!(", {most} at most"),
        (None, None) => String::new(),
    }
}

fn size(schema: &Value, least: &str, most: &str) -> String {
    let number = |key: &str| schema.get(key).and_then(Value::as_u64);
    let unit = if least == "minLength" { " characters" } else { "" };
    match (number(least), number(most)) {
        (Some(least), Some(most)) if least == most => format!(" of {least}{unit}"),
        (Some(least), Some(most)) => format!(" of {least} to {most}{unit}"),
        (Some(least), None) => format!(" of {least} or more{unit}"),
        (None, Some(most)) => format!(" of at most {most}{unit}"),
        (None, None) => String::new(),
    }
}

/// The properties that the object must have, with their values where only one will do.
fn with_properties(schema: &Value) -> String {
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let named = required.filter_map(Value::as_str).map(|name| {
        match schema.get("properties").and_then(|all| all.get(name)?.get("const")) {
            Some(value) => format!("`{name}`: {}", quoted(value)),
            None => format!("`{name}`"),
        }
    });
    let named: Vec<String> = named.collect();
    if named.is_empty() { String::new() } else { format!(" with {}", named.join(", ")) }
}

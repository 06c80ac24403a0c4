//! Whether one value is as its schema wants it, whatever stands in it.

use std::cmp::Ordering;

use serde_json::{Number, Value};

/// Whether the value itself is as the schema wants it, whatever stands in it.
pub(super) fn fits(value: &Value, schema: &Value) -> bool {
    let of_kind = match schema.get("type") {
        Some(Value::String(kind)) => is_of_kind(value, kind),
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).any(|kind| is_of_kind(value, kind))
        }
        _ => true,
    };
    let is_listed = match (schema.get("const"), schema.get("enum")) {
        (Some(only), _) => value == only,
        (None, Some(Value::Array(values))) => values.contains(value),
        _ => true,
    };
    of_kind && is_listed && is_within(value, schema)
}

fn is_of_kind(value: &Value, kind: &str) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    }
}

fn is_within(value: &Value, schema: &Value) -> bool {
    let sized = |size: usize, least: &str, most: &str| {
        let size = size as u64;
        let limit = |key: &str| schema.get(key).and_then(Value::as_u64);
        limit(least).is_none_or(|least| size >= least) && limit(most).is_none_or(|most| size <= most)
    };
    match value {
        Value::Number(number) => is_in_range(number, schema),
        Value::String(text) => sized(text.chars().count(), "minLength", "maxLength"),
        Value::Array(items) => sized(items.len(), "minItems", "maxItems"),
        _ => true,
    }
}

fn is_in_range(number: &Number, schema: &Value) -> bool {
    [
        ("minimum", [Ordering::Greater, Ordering::Equal].as_slice()),
        ("maximum", &[Ordering::Less, Ordering::Equal]),
        ("exclusiveMinimum", &[Ordering::Greater]),
        ("exclusiveMaximum", &[Ordering::Less]),
    ]
    .iter()
    .all(|(limit, allowed)| match schema.get(limit).and_then(Value::as_number) {
        Some(limit) => compare(number, limit).is_none_or(|order| allowed.contains(&order)),
        None => true,
    })
}

fn compare(one: &Number, other: &Number) -> Option<Ordering> {
    match (one.as_i128(), other.as_i128()) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        _ => one.as_f64()?.partial_cmp(&other.as_f64()?),
    }
}

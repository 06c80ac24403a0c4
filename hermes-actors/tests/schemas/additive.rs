//! What of a schema's changes is more than an addition: what would break a reader of older journals, or an old reader.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

/// What words only describe.
const WORDS: [&str; 6] = ["description", "title", "default", "format", "$schema", "examples"];

/// Everything in `new` that is not `old`, or `old` with optional fields and further variants added.
pub fn breaches(old: &Value, new: &Value) -> Vec<String> {
    let mut broken = Vec::new();
    compare("", old, new, &mut broken);
    broken
}

fn compare(at: &str, old: &Value, new: &Value, broken: &mut Vec<String>) {
    let (Value::Object(old), Value::Object(new)) = (old, new) else {
        if old != new {
            broken.push(format!("{at}: {old} became {new}"));
        }
        return;
    };
    for (key, was) in old.iter().filter(|(key, _)| !WORDS.contains(&key.as_str())) {
        let at = format!("{at}/{key}");
        match (key.as_str(), new.get(key)) {
            ("required", _) => {}
            (_, None) => broken.push(format!("{at} is gone")),
            ("properties" | "$defs", Some(now)) => members(&at, was, now, broken),
            ("enum" | "oneOf" | "anyOf", Some(now)) => variants(&at, was, now, broken),
            (_, Some(now)) => compare(&at, was, now, broken),
        }
    }
    let added = new.keys().filter(|key| !old.contains_key(*key) && !WORDS.contains(&key.as_str()));
    for key in added.filter(|key| !matches!(key.as_str(), "required" | "properties" | "$defs")) {
        broken.push(format!("{at}/{key} is new: it says more than before of what was there"));
    }
    required(at, old, new, broken);
}

/// Fields may be added, and those that were there stay.
fn members(at: &str, old: &Value, new: &Value, broken: &mut Vec<String>) {
    for (name, was) in old.as_object().into_iter().flatten() {
        match new.get(name) {
            Some(now) => compare(&format!("{at}/{name}"), was, now, broken),
            None => broken.push(format!("{at}/{name} is gone")),
        }
    }
}

/// Variants may be added, and those that were there stay as they were.
fn variants(at: &str, old: &Value, new: &Value, broken: &mut Vec<String>) {
    let now = new.as_array().cloned().unwrap_or_default();
    for was in old.as_array().into_iter().flatten() {
        if !now.iter().any(|now| breaches(was, now).is_empty()) {
            broken.push(format!("{at}: the variant {was} is gone or has changed"));
        }
    }
}

/// What was always written still is (old readers need it); what is new may be missing (old journals lack it).
fn required(at: &str, old: &Map<String, Value>, new: &Map<String, Value>, broken: &mut Vec<String>) {
    let names = |schema: &Map<String, Value>| -> HashSet<String> {
        let list = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        list.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect()
    };
    let (was, now) = (names(old), names(new));
    for name in was.difference(&now) {
        broken.push(format!("{at}: `{name}` was always there and may be missing now"));
    }
    for name in now.difference(&was) {
        broken.push(format!("{at}: `{name}` must be there now, and older journals lack it"));
    }
}

#[test]
fn what_is_added_is_no_breach_and_all_else_is() {
    let old = json!({
        "properties": {"a": {"type": "string"}, "end": {"enum": ["x", "y"]}},
        "required": ["a"],
        "$defs": {"T": {"type": "object"}},
    });
    let changed = |pointer: &str, value: Value| {
        let mut new = old.clone();
        *new.pointer_mut(pointer).unwrap() = value;
        breaches(&old, &new)
    };
    let with_b =
        json!({"a": {"type": "string", "description": "d"}, "end": {"enum": ["y", "z", "x"]}, "b": {}});
    assert_eq!(changed("/properties", with_b), [""; 0]);
    for (pointer, value, says) in [
        ("/properties", json!({"a": {"type": "string"}}), "/properties/end is gone"),
        ("/properties/a/type", json!("number"), "\"string\" became \"number\""),
        ("/properties/a", json!({"type": "string", "minLength": 1}), "minLength is new"),
        ("/properties/end/enum", json!(["x"]), "the variant \"y\" is gone"),
        ("/required", json!([]), "`a` was always there"),
        ("/required", json!(["a", "end"]), "`end` must be there now"),
        ("/$defs", json!({}), "/$defs/T is gone"),
    ] {
        let broken = changed(pointer, value);
        assert!(broken.len() == 1 && broken[0].contains(says), "{pointer}: {broken:?}");
    }
}

//! What we do not understand, kept: as it came when it came whole, joined when it came in parts.

use serde_json::map::Entry;
use serde_json::{Map, Value};

/// Texts that always come in pieces; of any other an equal text is a repetition.
const TOLD_IN_PIECES: [&str; 4] = ["reasoning_content", "reasoning", "refusal", "thinking"];

/// Adds the keys of a part to those of the parts before it.
pub(super) fn merge(
    extra: &mut Map<String, Value>,
    unknown: impl IntoIterator<Item = (impl Into<String>, impl Into<Value>)>,
) {
    for (key, value) in unknown {
        match extra.entry(key.into()) {
            Entry::Vacant(entry) => drop(entry.insert(value.into())),
            Entry::Occupied(mut entry) => {
                let more = value.into();
                if *entry.get() != more || TOLD_IN_PIECES.contains(&entry.key().as_str()) {
                    join(entry.get_mut(), more);
                }
            }
        }
    }
}

/// Texts are joined, lists appended, objects joined key by key; null adds nothing, and all else replaces.
pub(super) fn join(known: &mut Value, more: Value) {
    match (known, more) {
        (_, Value::Null) => {}
        (Value::String(known), Value::String(more)) => known.push_str(&more),
        (Value::Array(known), Value::Array(more)) => known.extend(more),
        (Value::Object(known), Value::Object(more)) => {
            for (key, value) in more {
                match known.get_mut(&key) {
                    Some(known) if *known == value => {}
                    Some(known) => join(known, value),
                    None => drop(known.insert(key, value)),
                }
            }
        }
        (known, more) => *known = more,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parts_are_joined_and_repetitions_are_not() {
        let mut extra = Map::new();
        for part in [
            json!({"reasoning": "哈", "name": "bot", "n": 1, "audio": null, "details": [{"text": "a"}]}),
            json!({"reasoning": "哈", "name": "bot", "n": 2, "audio": {"id": "x", "data": "AA"}}),
            json!({"reasoning": null, "audio": {"id": "x", "data": "BB"}, "details": [{"text": "b"}]}),
        ] {
            let Value::Object(part) = part else { unreachable!() };
            merge(&mut extra, part);
        }
        assert_eq!(
            Value::Object(extra),
            json!({
                "reasoning": "哈哈", "name": "bot", "n": 2, "audio": {"id": "x", "data": "AABB"},
                "details": [{"text": "a"}, {"text": "b"}]
            })
        );
    }
}

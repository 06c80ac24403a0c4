//! The faults: all that is wrong with arguments by their schema. Run only on what serde has refused, to say why; it knows the
//! usual words of JSON Schema and lets pass what it does not know.

use std::cell::Cell;

use serde_json::{Map, Value};

use super::fault::Fault;
use super::fits::fits;
use super::wanted::{choices, mismatch, wanted};

/// How many places are looked at. A recursive schema with many choices could otherwise keep it busy for ever.
const PLACES: u32 = 10_000;

/// How deep it looks, references included.
const DEPTH: u32 = 100;

/// What is wrong with `arguments` by `schema`, in the order of the arguments. Empty when the schema has nothing against them.
pub(super) fn faults(arguments: &Value, schema: &Value) -> Vec<Fault> {
    let check = Check { whole: schema, left: Cell::new(PLACES) };
    check.at(&Place { path: String::new(), depth: 0 }, arguments, schema)
}

struct Check<'a> {
    /// Where references point into.
    whole: &'a Value,
    /// The places that may still be looked at.
    left: Cell<u32>,
}

struct Place {
    path: String,
    depth: u32,
}

impl Place {
    fn property(&self, name: &str) -> Self {
        let dot = if self.path.is_empty() { "" } else { "." };
        Self { path: format!("{}{dot}{name}", self.path), depth: self.depth + 1 }
    }

    fn item(&self, index: usize) -> Self {
        Self { path: format!("{}[{index}]", self.path), depth: self.depth + 1 }
    }

    /// The same place, for another schema.
    fn again(&self) -> Self {
        Self { path: self.path.clone(), depth: self.depth + 1 }
    }

    fn fault(&self, words: String) -> Fault {
        Fault { path: self.path.clone(), words }
    }
}

impl Check<'_> {
    fn at(&self, place: &Place, value: &Value, schema: &Value) -> Vec<Fault> {
        if self.left.get() == 0 || place.depth > DEPTH {
            return Vec::new();
        }
        self.left.set(self.left.get() - 1);
        if let Some(meant) = self.referred(schema) {
            return self.at(&place.again(), value, meant);
        }
        if !fits(value, schema) {
            return vec![place.fault(mismatch(value, schema))];
        }
        let mut faults = match value {
            Value::Object(fields) => self.in_object(place, fields, schema),
            Value::Array(items) => self.in_array(place, items, schema),
            _ => Vec::new(),
        };
        if let Some(choices) = choices(schema) {
            faults.extend(self.among(place, value, schema, choices));
        }
        let all = schema.get("allOf").and_then(Value::as_array).into_iter().flatten();
        faults.extend(all.flat_map(|part| self.at(&place.again(), value, part)));
        faults
    }

    fn referred(&self, schema: &Value) -> Option<&Value> {
        let pointer = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
        self.whole.pointer(pointer)
    }

    fn in_object(&self, place: &Place, fields: &Map<String, Value>, schema: &Value) -> Vec<Fault> {
        let properties = schema.get("properties").and_then(Value::as_object);
        let property = |name: &str| properties.and_then(|all| all.get(name));
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let missing = required.iter().filter(|name| !fields.contains_key(**name)).map(|name| {
            let wanted = property(name).map(|schema| format!(" ({})", wanted(schema))).unwrap_or_default();
            place.property(name).fault(format!("missing{wanted}"))
        });
        let mut faults: Vec<Fault> = missing.collect();
        for (name, value) in fields {
            let place = place.property(name);
            match (property(name), schema.get("additionalProperties")) {
                // Models send null for what they leave out, and most types take it.
                (Some(_), _) if value.is_null() && !required.contains(&name.as_str()) => {}
                (Some(schema), _) => faults.extend(self.at(&place, value, schema)),
                (None, Some(Value::Bool(false))) => faults.push(place.fault(unknown(properties))),
                (None, Some(schema)) => faults.extend(self.at(&place, value, schema)),
                (None, None) => {}
            }
        }
        faults
    }

    fn in_array(&self, place: &Place, items: &[Value], schema: &Value) -> Vec<Fault> {
        let first = schema.get("prefixItems").and_then(Value::as_array);
        let of_item = |index| first.and_then(|first| first.get(index)).or(schema.get("items"));
        let items = items.iter().enumerate();
        items
            .filter_map(|(index, item)| Some(self.at(&place.item(index), item, of_item(index)?)))
            .flatten()
            .collect()
    }

    /// What is wrong with a value that must fit one of several schemas: by the one that was meant, where that is clear.
    fn among(&self, place: &Place, value: &Value, schema: &Value, choices: &[Value]) -> Vec<Fault> {
        let mut meant = Vec::new();
        for choice in choices {
            let faults = self.at(&place.again(), value, choice);
            if faults.is_empty() {
                return faults;
            }
            if is_meant(value, self.referred(choice).unwrap_or(choice)) {
                meant.push(faults);
            }
        }
        match meant.pop() {
            Some(faults) if meant.is_empty() => faults,
            _ => vec![place.fault(mismatch(value, schema))],
        }
    }
}

/// Whether the value is of this choice, though something in it may be wrong: an object has its tag, or a property of it.
fn is_meant(value: &Value, choice: &Value) -> bool {
    let (Value::Object(fields), Some(properties)) =
        (value, choice.get("properties").and_then(Value::as_object))
    else {
        return fits(value, choice);
    };
    let mut tags =
        properties.iter().filter_map(|(name, schema)| Some((name, schema.get("const")?))).peekable();
    if tags.peek().is_some() {
        return tags.all(|(name, tag)| fields.get(name) == Some(tag));
    }
    fields.keys().any(|name| properties.contains_key(name))
}

fn unknown(properties: Option<&Map<String, Value>>) -> String {
    let known: Vec<String> =
        properties.into_iter().flat_map(Map::keys).map(|name| format!("`{name}`")).collect();
    match known.as_slice() {
        [] => "unknown, and there is nothing to give here".to_owned(),
        known => format!("unknown, there are {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(schema: &Value, arguments: &Value) -> Vec<String> {
        faults(arguments, schema).iter().map(Fault::to_string).collect()
    }

    #[test]
    fn every_usual_word_of_a_schema_is_told_in_words() {
        let schema = json!({"type": "object", "required": ["id"], "additionalProperties": {"type": "boolean"}, "properties": {
            "id": {"type": "integer", "minimum": 1},
            "share": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
            "code": {"type": "string", "minLength": 2, "maxLength": 2},
            "tags": {"type": "array", "items": {"type": ["string", "null"]}, "maxItems": 2},
            "pair": {"prefixItems": [{"type": "number"}, {"const": "°C"}]},
            "城市": {"enum": ["北京", 7]},
        }});
        assert_eq!(
            said(&schema, &json!({"id": 1, "share": 0.5, "code": "晴天", "tags": ["a", null], "x": true})),
            [""; 0]
        );
        let wrong = json!({
            "id": 0, "share": 0, "code": "a", "tags": [1, "b"], "pair": ["1", "K"], "城市": "上海", "x": "yes"
        });
        assert_eq!(
            said(&schema, &wrong),
            [
                "`code`: the string \"a\" is not a string of 2 characters",
                "`id`: 0 is not a whole number, 1 or more",
                "`pair[0]`: the string \"1\" is not a number",
                "`pair[1]`: `K` is not `°C`",
                "`share`: 0 is not a number, 1 at most, above 0",
                "`tags[0]`: 1 is not a string or null",
                "`x`: the string \"yes\" is not true or false",
                "`城市`: `上海` is not one of `北京`, `7`",
            ]
        );
    }

    #[test]
    fn what_is_left_out_as_null_is_no_fault_and_a_required_null_is() {
        let schema =
            json!({"required": ["a"], "properties": {"a": {"type": "string"}, "b": {"type": "string"}}});
        assert_eq!(said(&schema, &json!({"a": null, "b": null})), ["`a`: null is not a string"]);
    }

    #[test]
    fn of_several_forms_the_one_that_was_meant_is_looked_at() {
        let shape = json!({"oneOf": [
            {"type": "object", "required": ["kind", "radius"], "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}}},
            {"type": "object", "required": ["kind"], "properties": {"kind": {"const": "point"}}},
            {"type": "null"},
        ]});
        let schema = json!({"required": ["shape"], "properties": {"shape": shape}});
        let of = |shape: Value| said(&schema, &json!({"shape": shape}));
        assert_eq!(of(json!({"kind": "point"})), [""; 0]);
        assert_eq!(of(json!({"kind": "circle"})), ["`shape.radius`: missing (a number)"]);
        assert_eq!(
            of(json!({"kind": "star"})),
            [
                "`shape`: this object is not an object with `kind`: `circle`, `radius` or an object with `kind`: `point` or null"
            ]
        );
    }

    #[test]
    fn a_recursive_schema_is_followed_as_deep_as_the_arguments_go_and_no_further() {
        let folder = json!({"type": "object", "properties": {"in": {"$ref": "#/$defs/Folder"}}});
        let schema = json!({"properties": {"top": {"$ref": "#/$defs/Folder"}}, "$defs": {"Folder": folder}});
        assert_eq!(said(&schema, &json!({"top": {"in": {"in": 5}}})), ["`top.in.in`: 5 is not an object"]);

        let endless = json!({"$ref": "#/$defs/A", "$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/A"}]}}});
        assert_eq!(said(&endless, &json!({"a": 1})), [""; 0]);
    }

    #[test]
    fn a_long_text_is_not_repeated_whole() {
        let schema = json!({"properties": {"count": {"type": "integer"}}});
        let said = said(&schema, &json!({"count": "天".repeat(500)}));
        assert_eq!(said, [format!("`count`: the string \"{}…\" is not a whole number", "天".repeat(40))]);
    }
}

//! Schemas: the JSON Schema of a tool's arguments, in the plain form that models and providers take well.

use schemars::transform::{RecursiveTransform, ReplaceBoolSchemas, Transform, transform_subschemas};
use schemars::{JsonSchema, Schema, generate::SchemaSettings};
use serde_json::{Map, Value, json};

/// The schema of a tool's parameters, from a struct with one field for each.
///
/// It is an object schema that every provider accepts: sub-schemas stand inline (only a recursive type keeps a
/// `$ref`), no `$schema`, no `title` of the struct, no formats of Rust's numbers. A field that may be left out is not
/// `required` and is not offered `null` either: leaving it out is one way to say nothing, and enough.
/// `additionalProperties: false` is not written, because some servers refuse the key.
pub fn schema_for<T: JsonSchema>() -> Value {
    let mut schema = whole_schema_for::<T>();
    if let Value::Object(object) = &mut schema
        && object.get("additionalProperties") == Some(&Value::Bool(false))
    {
        object.remove("additionalProperties");
    }
    schema
}

/// As [`schema_for`], and it says whether the object may have other properties.
pub(super) fn whole_schema_for<T: JsonSchema>() -> Value {
    let generator = SchemaSettings::draft2020_12()
        .with(|settings| {
            settings.meta_schema = None;
            settings.inline_subschemas = true;
        })
        .with_transform(RecursiveTransform(drop_number_format))
        .with_transform(RecursiveTransform(drop_null_of_optional))
        .with_transform(merge_constants)
        .with_transform(anything_as_object)
        .into_generator();
    let mut schema = generator.into_root_schema_for::<T>();
    schema.remove("title");
    schema.ensure_object().entry("properties").or_insert_with(|| Value::Object(Map::new()));
    schema.to_value()
}

/// `int64`, `uint`, `double`: Rust's words, which tell a model nothing and which some providers refuse.
fn drop_number_format(schema: &mut Schema) {
    let is_number = |kind: &Value| kind == "integer" || kind == "number";
    let numeric = schema.get("type").is_some_and(|kind| match kind {
        Value::Array(kinds) => kinds.iter().any(is_number),
        kind => is_number(kind),
    });
    if numeric {
        schema.remove("format");
    }
}

/// "Anything" as `{}`: a schema that is just `true` is more than many servers expect.
fn anything_as_object(schema: &mut Schema) {
    let mut replace = ReplaceBoolSchemas::default();
    replace.skip_additional_properties = true;
    replace.transform(schema);
}

/// For a property that is not required: `string` instead of `string or null`.
fn drop_null_of_optional(schema: &mut Schema) {
    let Some(object) = schema.as_object_mut() else { return };
    let required = object.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for (name, property) in properties {
        if let Value::Object(property) = property
            && !required.iter().any(|required| required == name)
        {
            drop_null(property);
        }
    }
}

fn drop_null(property: &mut Map<String, Value>) {
    if let Some(Value::Array(kinds)) = property.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [only] = kinds.as_mut_slice() {
            let only = only.take();
            property.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(values)) = property.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Array(choices)) = property.get_mut("anyOf") {
        choices.retain(|choice| *choice != json!({"type": "null"}));
        if let [Value::Object(only)] = choices.as_mut_slice() {
            let only = std::mem::take(only);
            property.remove("anyOf");
            for (key, value) in only {
                // What the parameter says of itself counts more than what its type says.
                property.entry(key).or_insert(value);
            }
        }
    }
}

/// An enum whose variants have doc comments: one `enum` with the comments in the description, instead of a choice of
/// constants, which small servers do not read.
fn merge_constants(schema: &mut Schema) {
    transform_subschemas(&mut merge_constants, schema);
    let Some(object) = schema.as_object_mut() else { return };
    let Some(Value::Array(choices)) = object.get("oneOf") else { return };
    let Some(constants) = choices.iter().map(constants_of).collect::<Option<Vec<_>>>() else { return };

    let mut lines: Vec<String> =
        object.get("description").and_then(Value::as_str).map(str::to_owned).into_iter().collect();
    let mut values = Vec::new();
    for (names, description) in constants {
        lines.extend(description.map(|words| format!("- {}: {words}", names.join(", "))));
        values.extend(names.into_iter().map(Value::from));
    }
    object.remove("oneOf");
    object.insert("type".into(), "string".into());
    object.insert("enum".into(), Value::Array(values));
    object.insert("description".into(), lines.join("\n").into());
}

/// The strings that a choice allows, with its description, if it allows nothing but certain strings.
fn constants_of(choice: &Value) -> Option<(Vec<String>, Option<String>)> {
    if choice.get("type")? != "string" {
        return None;
    }
    let names = match (choice.get("const"), choice.get("enum")) {
        (Some(Value::String(name)), None) => vec![name.clone()],
        (None, Some(Value::Array(names))) => {
            names.iter().map(|name| name.as_str().map(str::to_owned)).collect::<Option<_>>()?
        }
        _ => return None,
    };
    Some((names, choice.get("description").and_then(Value::as_str).map(str::to_owned)))
}

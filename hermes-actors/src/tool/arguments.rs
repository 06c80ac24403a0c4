//! Arguments: from the object a model sent to the type a tool wants.

use super::ToolError;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use serde_path_to_error::{Path, Segment};

/// The arguments as a value of `T`, usually a struct with one field for each parameter.
///
/// # Errors
/// When they do not fit. The message names the argument by its path (`stops[1].city`) and says what was wanted,
/// so that the model can mend its call.
pub fn arguments_as<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, ToolError> {
    arguments_with(arguments, || Value::Null)
}

/// As [`arguments_as`], with a hint from the schema where it allows only certain values. The schema is made only when it
/// is needed.
pub(super) fn arguments_with<T: DeserializeOwned>(
    arguments: Map<String, Value>,
    schema: impl FnOnce() -> Value,
) -> Result<T, ToolError> {
    serde_path_to_error::deserialize(Value::Object(arguments)).map_err(|error| {
        let path = error.path().clone();
        let fault = error.into_inner();
        // The path is "." where the whole object is at fault: serde then names the field itself.
        let place = match path.to_string().as_str() {
            "." => String::new(),
            path => format!(", `{path}`"),
        };
        let hint = allowed_at(&schema(), &path, &fault.to_string()).unwrap_or_default();
        ToolError::new(format!("unusable arguments{place}: {fault}{hint}")).caused_by(fault).permanent()
    })
}

/// The values that the schema allows at `path`, where they are certain ones that `fault` does not name already.
fn allowed_at(schema: &Value, path: &Path, fault: &str) -> Option<String> {
    let mut place = schema;
    for segment in path {
        place = match segment {
            Segment::Map { key } => {
                place.get("properties").and_then(|all| all.get(key)).or(place.get("additionalProperties"))?
            }
            Segment::Seq { .. } => place.get("items")?,
            Segment::Enum { .. } | Segment::Unknown => return None,
        };
    }
    let allowed = place.get("enum")?.as_array()?;
    let is_named = |value: &Value| value.as_str().is_some_and(|text| fault.contains(text));
    let words: Vec<String> = allowed.iter().map(Value::to_string).collect();
    (!allowed.iter().all(is_named)).then(|| format!(". Allowed are: {}", words.join(", ")))
}

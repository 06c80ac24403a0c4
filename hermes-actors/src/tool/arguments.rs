//! Arguments: from the object a model sent to the type a tool wants.

use super::ToolError;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The arguments as a value of `T`, usually a struct with one field for each parameter.
///
/// # Errors
/// When they do not fit. The message names the argument by its path (`stops[1].city`) and says what was wanted,
/// so that the model can mend its call.
pub fn arguments_as<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, ToolError> {
    serde_path_to_error::deserialize(Value::Object(arguments)).map_err(|error| {
        let path = error.path().to_string();
        let fault = error.into_inner();
        // The path is "." where the whole object is at fault: serde then names the field itself.
        let place = if path == "." { String::new() } else { format!(", `{path}`") };
        ToolError::new(format!("unusable arguments{place}: {fault}")).caused_by(fault)
    })
}

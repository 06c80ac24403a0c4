//! Arguments: from the object a model sent to the type a tool wants.

mod fault;
mod faults;
mod fits;
mod wanted;

use fault::Fault;
use faults::faults;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::ToolError;
use super::schema::whole_schema_for;

/// How many faults are told at once: a model mends its call by the first few, and a long list may be wrong throughout.
const TOLD: usize = 8;

/// The arguments as a value of `T`, usually a struct with one field for each parameter.
///
/// # Errors
/// When they do not fit. The message names all that is wrong by its path (`stops[1].city`) and says what was wanted, in
/// words of JSON, so that the model can mend its call.
pub fn arguments_as<T: DeserializeOwned + JsonSchema>(arguments: Map<String, Value>) -> Result<T, ToolError> {
    arguments_by(arguments, whole_schema_for::<T>)
}

/// As [`arguments_as`], with the schema said. It is made, and looked at, only when the arguments do not fit.
pub(super) fn arguments_by<T: DeserializeOwned>(
    arguments: Map<String, Value>,
    schema: impl FnOnce() -> Value,
) -> Result<T, ToolError> {
    let arguments = Value::Object(arguments);
    serde_path_to_error::deserialize(&arguments).map_err(|error| {
        let first = Fault::of_serde(error.path(), error.inner());
        let mut all = faults(&arguments, &schema());
        // A type may refuse what its schema allows.
        if !all.iter().any(|fault| fault.stands_in(&first)) {
            all.insert(0, first);
        }
        ToolError::new(message(&all)).caused_by(error.into_inner()).permanent()
    })
}

fn message(all: &[Fault]) -> String {
    let told: Vec<String> = all.iter().take(TOLD).map(Fault::to_string).collect();
    let more = match all.len() - told.len() {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    format!("unusable arguments: {}{more}", told.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::json;

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Order {
        #[serde(rename = "count")]
        _count: u32,
        #[serde(default, rename = "note")]
        _note: String,
        #[serde(default, rename = "ids")]
        _ids: Vec<i64>,
    }

    fn said(arguments: Value) -> String {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        arguments_as::<Order>(arguments).unwrap_err().to_string()
    }

    #[test]
    fn what_only_the_type_refuses_is_told_beside_what_the_schema_refuses() {
        assert_eq!(
            said(json!({"count": 5_000_000_000_u64, "note": 1, "size": 2})),
            "unusable arguments: `count`: integer `5000000000` is not a whole number from 0 to 4294967295; \
             `note`: 1 is not a string; `size`: unknown, there are `count`, `ids`, `note`"
        );
        assert_eq!(
            said(json!({"count": 1, "note": null})),
            "unusable arguments: `note`: null is not a string"
        );
    }

    #[test]
    fn a_long_list_of_faults_is_cut() {
        let said = said(json!({"count": 1, "ids": vec!["a"; 1_000]}));
        assert!(said.ends_with("`ids[7]`: the string \"a\" is not a whole number; and 992 more"), "{said}");
    }
}

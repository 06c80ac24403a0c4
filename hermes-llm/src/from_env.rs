//! The model that the environment names, or a scripted one: what examples run on.

use std::sync::Arc;

use crate::{ChatModel, Endpoint, EndpointError, OpenAiModel, ScriptedModel};

/// The endpoint of `LLM_BASE_URL`, `LLM_MODEL` and `LLM_API_KEY` when the first two are set, else the script.
///
/// # Errors
/// When the variables are set and cannot be used.
pub fn from_env_or(script: ScriptedModel) -> Result<Arc<dyn ChatModel>, EndpointError> {
    if Endpoint::env_is_set() {
        return Ok(Arc::new(OpenAiModel::new(Endpoint::from_env()?)?));
    }
    Ok(Arc::new(script))
}

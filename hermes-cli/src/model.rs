//! Which model is asked: the options say it, else the environment.

use std::sync::Arc;

use anyhow::{Result, bail};
use hermes_llm::{ChatModel, Endpoint, OpenAiModel};

use crate::args::RunArgs;
use crate::demo;
use crate::terminal::say;

/// The model that the options and the environment name. The key comes from `LLM_API_KEY` only: options are seen by
/// every user of the machine.
pub fn choose(args: &RunArgs) -> Result<Arc<dyn ChatModel>> {
    if args.model.as_deref() == Some(demo::NAME) {
        say(demo::LABEL);
        return Ok(Arc::new(demo::model()));
    }
    let base_url = args.base_url.clone().or_else(|| variable("LLM_BASE_URL"));
    let name = args.model.clone().or_else(|| variable("LLM_MODEL"));
    let (base_url, name) = both(base_url, name)?;
    let mut endpoint = Endpoint::new(base_url, name)?;
    if let Some(key) = variable("LLM_API_KEY") {
        endpoint = endpoint.api_key(key);
    }
    Ok(Arc::new(OpenAiModel::new(endpoint)?))
}

fn both(base_url: Option<String>, model: Option<String>) -> Result<(String, String)> {
    let (url, name) = (
        "LLM_BASE_URL (for example http://localhost:11434/v1) or give --base-url",
        "LLM_MODEL (for example qwen2.5:7b) or give --model",
    );
    let missing = match (base_url, model) {
        (Some(base_url), Some(model)) => return Ok((base_url, model)),
        (None, None) => format!("{url}, and {name}"),
        (None, Some(_)) => url.to_owned(),
        (Some(_), None) => name.to_owned(),
    };
    bail!("no model to ask: set {missing}. Or try `--model demo`, which asks none.");
}

/// A variable of the environment; an empty one counts as not set.
fn variable(name: &str) -> Option<String> {
    let value = std::env::var_os(name)?.to_string_lossy().trim().to_owned();
    Some(value).filter(|value| !value.is_empty())
}

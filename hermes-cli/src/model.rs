//! Which model is asked, and how: what the settings say.

use std::sync::Arc;

use anyhow::{Result, anyhow, bail};
use hermes_llm::{ChatModel, Endpoint, EndpointError, OpenAiModel, Settings, Streaming};

use crate::config::{Config, ModelSettings};
use crate::demo;
use crate::terminal::say;

/// The model that the settings name.
///
/// # Errors
/// What is missing, and where it can be said.
pub fn choose(config: &Config) -> Result<Arc<dyn ChatModel>> {
    let model = &config.settings.model;
    if is_demo(model) {
        say(demo::LABEL);
        return Ok(Arc::new(demo::Demo));
    }
    if let (None, Some(variable)) = (&model.api_key, &model.api_key_env) {
        let source = config.source("model.api_key_env");
        bail!("the variable {variable}, which api_key_env names ({source}), is not set");
    }
    let (base_url, name) = address(model)?;
    Ok(Arc::new(client(config, base_url, name)?))
}

/// Finds what in the settings of a model cannot be used, where they name one.
///
/// # Errors
/// What that is.
pub fn check(config: &Config) -> Result<()> {
    let model = &config.settings.model;
    match (&model.endpoint, &model.model_name) {
        (Some(base_url), Some(name)) if !is_demo(model) => client(config, base_url, name).map(drop),
        _ => Ok(()),
    }
}

fn is_demo(model: &ModelSettings) -> bool {
    model.model_name.as_deref() == Some(demo::NAME)
}

/// How it samples.
pub fn sampling(model: &ModelSettings) -> Settings {
    Settings {
        temperature: Some(model.temperature),
        max_tokens: model.max_tokens,
        stop: model.stop.clone(),
        seed: model.seed,
        tool_choice: model.tool_choice,
    }
}

fn client(config: &Config, base_url: &str, name: &str) -> Result<OpenAiModel> {
    OpenAiModel::new(endpoint(config, base_url, name)?).map_err(|error| {
        let setting = match &error {
            EndpointError::ApiKey => "model.api_key",
            EndpointError::Header { .. } => "model.headers",
            EndpointError::BodyField { .. } => "model.body",
            _ => return error.into(),
        };
        anyhow!("{}: `{setting}`: {error}", config.source(setting))
    })
}

fn endpoint(config: &Config, base_url: &str, name: &str) -> Result<Endpoint> {
    let model = &config.settings.model;
    let streaming = if model.streaming { Streaming::On } else { Streaming::Off };
    let mut endpoint = Endpoint::new(base_url, name)?.streaming(streaming);
    if let Some(time) = config.settings.request_timeout {
        endpoint = endpoint.timeout(time);
    }
    for (name, value) in &model.headers {
        endpoint = endpoint.header(name, value);
    }
    for (name, value) in &model.query {
        endpoint = endpoint.query(name, value);
    }
    for (name, value) in &model.body {
        endpoint = endpoint.body_field(name, value.clone());
    }
    Ok(match &model.api_key {
        Some(key) => endpoint.api_key(key.as_str()),
        None => endpoint,
    })
}

fn address(model: &ModelSettings) -> Result<(&str, &str)> {
    let (url, name) = (
        "LLM_BASE_URL (for example http://localhost:11434/v1) or give --base-url",
        "LLM_MODEL (for example qwen2.5:7b) or give --model",
    );
    let missing = match (&model.endpoint, &model.model_name) {
        (Some(base_url), Some(model)) => return Ok((base_url, model)),
        (None, None) => format!("{url}, and {name}"),
        (None, Some(_)) => url.to_owned(),
        (Some(_), None) => name.to_owned(),
    };
    bail!(
        "no model to ask: set {missing}. Or write both into a file: `hermes config --init` makes one. Or try \
         `--model demo`, which asks none."
    );
}

//! The settings in force, and where each was said.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

pub use flags::{ConfigFlag, RootFlag, SettingFlags};
pub use layers::Source;

use crate::terminal::say;
use layers::{Layer, Layers};

mod document;
mod environment;
mod file;
mod flags;
mod keys;
mod kind;
mod layers;
mod mask;
pub mod shown;
mod slip;
mod starter;
mod yaml;

/// All settings.
#[derive(Debug)]
pub struct Config {
    /// The file that was read.
    pub file: Option<PathBuf>,
    layers: Layers,
    /// The values, typed.
    pub settings: Settings,
}

/// The values of all settings.
#[derive(Debug, Deserialize)]
pub struct Settings {
    pub model: ModelSettings,
    pub max_iterations: u32,
    #[serde(rename = "request_timeout_seconds", deserialize_with = "seconds")]
    pub request_timeout: Option<Duration>,
    #[serde(rename = "task_timeout_seconds", deserialize_with = "seconds")]
    pub task_timeout: Option<Duration>,
    pub system_prompt: String,
    pub tools: Vec<String>,
    pub root: PathBuf,
    pub journal: String,
}

/// The values of the settings below `model`.
#[derive(Debug, Deserialize)]
pub struct ModelSettings {
    pub endpoint: Option<String>,
    pub model_name: Option<String>,
    pub api_key: Option<String>,
    pub api_key_env: Option<String>,
    pub headers: BTreeMap<String, String>,
    pub query: BTreeMap<String, String>,
    pub body: Map<String, Value>,
    pub streaming: bool,
    pub temperature: f64,
    pub max_tokens: Option<u32>,
    pub stop: Vec<String>,
    pub seed: Option<i64>,
    pub tool_choice: Option<hermes_llm::ToolChoice>,
}

impl Config {
    /// Reads the file, if there is one, and the environment; what `flags` say wins over both.
    ///
    /// # Errors
    /// What cannot be used, where it was said, and what can be said there.
    pub fn load(named: Option<&Path>, flags: Layer) -> Result<Self> {
        let file = file::Wanted::of(named)?.find()?;
        let said = file.as_deref().map(file::read).transpose()?.unwrap_or_default();
        if let Some(warning) = file.as_deref().and_then(|file| file::warning(file, &said)) {
            say(&warning);
        }
        let key_variable = said.iter().find(|setting| setting.key.name == "model.api_key_env");
        let key_variable = key_variable.and_then(|setting| setting.value.as_str()).map(str::to_owned);
        for warning in environment::strangers(environment::names(), key_variable.as_deref()) {
            say(&warning);
        }
        let environment = environment::layer(environment::variable, key_variable.as_deref())?;
        let layers = Layers::over_defaults([said, environment, flags]);
        let settings = serde_json::from_value(layers.nested())?;
        Ok(Self { file, layers, settings })
    }

    /// Whether the file holds what nobody else should read.
    pub fn file_has_secrets(&self) -> bool {
        let secret = ["model.api_key", "model.headers", "model.query"];
        self.layers
            .iter()
            .any(|setting| secret.contains(&setting.key.name) && matches!(setting.source, Source::File(..)))
    }

    /// Where this setting was said.
    pub fn source(&self, name: &str) -> Source {
        self.layers.get(name).map_or(Source::Default, |setting| setting.source.clone())
    }
}

fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    Ok(Option::<f64>::deserialize(deserializer)?.and_then(kind::seconds))
}

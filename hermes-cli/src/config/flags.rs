//! The layer of the command line.

use std::path::PathBuf;

use anyhow::{Result, anyhow};
use clap::ValueHint;
use serde_json::Value;

use super::keys;
use super::kind::Kind;
use super::layers::{Layer, Setting, Source};
use crate::duration;

/// Which file is read.
#[derive(Debug, clap::Args)]
pub struct ConfigFlag {
    /// The file with settings, instead of HERMES_CONFIG or ./hermes.yaml
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub config: Option<PathBuf>,
}

/// Which folder the tools may read.
#[derive(Debug, clap::Args)]
pub struct RootFlag {
    /// The folder that the agent may read, with all that is below it [default: .]
    #[arg(long, value_name = "DIR", value_parser = path, value_hint = ValueHint::DirPath)]
    root: Option<Value>,
}

/// The options that are settings.
#[derive(Debug, clap::Args)]
pub struct SettingFlags {
    #[command(flatten)]
    root: RootFlag,

    /// The model, instead of LLM_MODEL; `demo` plays a scripted conversation and asks no model
    #[arg(long, value_name = "NAME", value_parser = text)]
    model: Option<Value>,

    /// Where the model is asked, instead of LLM_BASE_URL: http://localhost:11434/v1 for example
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    base_url: Option<String>,

    /// What the model is told before the task, instead of the built-in words
    #[arg(long, value_name = "TEXT", value_parser = text)]
    system: Option<Value>,

    /// How many turns a task may take: model calls that may ask for tools [default: 8]
    #[arg(long, value_name = "N", value_parser = count)]
    max_iterations: Option<Value>,

    /// How long a task may take, such as 500ms, 30s or 2m [default: no limit]
    #[arg(long, value_name = "TIME", value_parser = time)]
    deadline: Option<Value>,

    /// How long the model's server may be silent [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = time)]
    request_timeout: Option<Value>,

    /// Where runs are written, instead of HERMES_JOURNAL or ./hermes_trace.jsonl; `memory` keeps nothing
    #[arg(long, value_name = "PATH|memory", value_parser = text, value_hint = ValueHint::FilePath)]
    journal: Option<Value>,

    /// How freely the model chooses its words, from 0 to 2 [default: 0]
    #[arg(long, value_name = "NUMBER", value_parser = temperature, help_heading = SAMPLING)]
    temperature: Option<Value>,

    /// How many tokens a reply may have [default: the server's own limit]
    #[arg(long, value_name = "N", value_parser = count, help_heading = SAMPLING)]
    max_tokens: Option<Value>,

    /// A text at which the model stops; may be given several times
    #[arg(long, value_name = "TEXT", value_parser = exact, help_heading = SAMPLING)]
    stop: Vec<Value>,

    /// A number that makes equal requests get equal replies, where the server can do that
    #[arg(long, value_name = "N", value_parser = whole, allow_hyphen_values = true, help_heading = SAMPLING)]
    seed: Option<Value>,

    /// Whether the model may, must not or must call tools [default: it may]
    #[arg(long, value_name = "WHEN", value_parser = ["auto", "none", "required"], help_heading = SAMPLING)]
    tool_choice: Option<String>,
}

const SAMPLING: &str = "Sampling";

impl RootFlag {
    /// What it says.
    pub fn layer(&self) -> Layer {
        layer([("root", "--root", self.root.clone())])
    }
}

impl SettingFlags {
    /// What they say.
    ///
    /// # Errors
    /// When the address is none: that is told here, for whoever reads the command line repeats what it refuses, and an
    /// address may hold a password.
    pub fn layer(&self) -> Result<Layer> {
        let base_url = self.base_url.as_deref().map(|url| Kind::Address.parse(url)).transpose();
        let base_url = base_url.map_err(|why| anyhow!("--base-url: {why}"))?;
        let stop = if self.stop.is_empty() { None } else { Some(Value::from(self.stop.clone())) };
        Ok(layer([
            ("root", "--root", self.root.root.clone()),
            ("model.model_name", "--model", self.model.clone()),
            ("model.endpoint", "--base-url", base_url),
            ("system_prompt", "--system", self.system.clone()),
            ("max_iterations", "--max-iterations", self.max_iterations.clone()),
            ("task_timeout_seconds", "--deadline", self.deadline.clone()),
            ("request_timeout_seconds", "--request-timeout", self.request_timeout.clone()),
            ("journal", "--journal", self.journal.clone()),
            ("model.temperature", "--temperature", self.temperature.clone()),
            ("model.max_tokens", "--max-tokens", self.max_tokens.clone()),
            ("model.stop", "--stop", stop),
            ("model.seed", "--seed", self.seed.clone()),
            ("model.tool_choice", "--tool-choice", self.tool_choice.clone().map(Value::from)),
        ]))
    }
}

fn layer<const N: usize>(said: [(&'static str, &'static str, Option<Value>); N]) -> Layer {
    let setting = |(name, flag, value): (_, _, Option<Value>)| {
        Some(Setting { key: keys::find(name)?, value: value?, source: Source::Flag(flag) })
    };
    said.into_iter().filter_map(setting).collect()
}

fn exact(text: &str) -> Result<Value, String> {
    Kind::Exact.parse(text)
}

fn text(text: &str) -> Result<Value, String> {
    Kind::Text.parse(text)
}

fn path(text: &str) -> Result<Value, String> {
    Kind::Path.parse(text)
}

fn count(text: &str) -> Result<Value, String> {
    Kind::Count.parse(text)
}

fn whole(text: &str) -> Result<Value, String> {
    Kind::Whole.parse(text)
}

fn temperature(text: &str) -> Result<Value, String> {
    Kind::Temperature.parse(text)
}

fn time(text: &str) -> Result<Value, String> {
    duration::parse(text).map(|time| time.as_secs_f64().into())
}

//! What an agent needs, made from the settings and checked before anything runs.

use std::io::ErrorKind;
use std::sync::Arc;

use anyhow::{Result, anyhow};
use hermes_actors::tool::Tool;
use hermes_actors::{Agent, Runtime};
use hermes_llm::ChatModel;
use hermes_tools::{Files, FilesError};

use crate::config::{Config, Settings, Source};
use crate::journal::{self, Opened};
use crate::model;

/// A model, tools and an open journal.
pub struct Setup {
    settings: Settings,
    model: Arc<dyn ChatModel>,
    tools: Vec<Arc<dyn Tool>>,
    pub opened: Opened,
}

impl Setup {
    /// Makes it. The journal comes last: what cannot run leaves none behind.
    ///
    /// # Errors
    /// When something is missing or cannot be used.
    pub fn of(config: Config) -> Result<Self> {
        let files = files(&config)?;
        let model = model::choose(&config)?;
        let opened = journal::open(config.settings.journal.as_ref())?;
        // An agent that finds its own words takes them for news.
        let files = opened.files.iter().fold(files, Files::hiding);
        let tools = chosen(&config.settings, &files);
        Ok(Self { settings: config.settings, model, tools, opened })
    }

    /// An agent on this runtime.
    ///
    /// # Errors
    /// When the settings make no lawful agent.
    pub fn agent(&self, runtime: &Runtime) -> Result<Agent> {
        self.agent_told(&self.settings.system_prompt, runtime)
    }

    /// The same agent, told something else before all.
    ///
    /// # Errors
    /// As [`Setup::agent`].
    pub fn agent_told(&self, system_prompt: &str, runtime: &Runtime) -> Result<Agent> {
        let settings = &self.settings;
        let mut builder = Agent::builder("hermes")
            .system_prompt(system_prompt)
            .model(self.model.clone())
            .settings(model::sampling(&settings.model))
            .max_iterations(settings.max_iterations)
            .runtime(runtime);
        for tool in &self.tools {
            builder = builder.tool(tool.clone());
        }
        if let Some(time) = settings.task_timeout {
            builder = builder.deadline(time);
        }
        Ok(builder.build()?)
    }

    /// Its tools.
    pub fn tools(&self) -> &[Arc<dyn Tool>] {
        &self.tools
    }
}

/// The tools that the settings give to the agent.
///
/// # Errors
/// When there is no such folder for them.
pub fn tools(config: &Config) -> Result<Vec<Arc<dyn Tool>>> {
    Ok(chosen(&config.settings, &files(config)?))
}

fn files(config: &Config) -> Result<Files> {
    let files =
        Files::below(&config.settings.root).map_err(|error| no_folder(&config.source("root"), &error))?;
    // No model needs the keys that a file of settings holds.
    let secret = config.file.as_ref().filter(|_| config.file_has_secrets());
    Ok(secret.into_iter().fold(files, |files, secret| files.hiding(secret)))
}

fn no_folder(said: &Source, FilesError { path, source }: &FilesError) -> anyhow::Error {
    let said = match said {
        Source::Default => "the folder that is read unless --root names one:".to_owned(),
        Source::File(..) => format!("{said}: root:"),
        Source::Variable(_) | Source::Flag(_) => said.to_string(),
    };
    let why = match source.kind() {
        ErrorKind::NotFound => "there is no such folder; name an existing one".to_owned(),
        ErrorKind::NotADirectory => "this is no folder; name one".to_owned(),
        _ => format!("the folder cannot be opened ({source}); name another one"),
    };
    anyhow!("{said} {}: {why}", path.display())
}

fn chosen(settings: &Settings, files: &Files) -> Vec<Arc<dyn Tool>> {
    let wanted = |tool: &Arc<dyn Tool>| settings.tools.contains(&tool.declaration().name);
    files.tools().into_iter().filter(wanted).collect()
}

//! `hermes tools`: the tools of the agent as the model sees them, and one of them by hand.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use hermes_actors::tool::{Declaration, Tool, ToolContext, shown};
use serde_json::{Map, Value};

use crate::args::{CallArgs, ToolsArgs, ToolsCommand};
use crate::config::Config;
use crate::exit::Exit;
use crate::report::{Form, write_line};
use crate::setup;
use crate::terminal::{harmless, harmless_json};

/// Lists the tools, shows one, or calls one.
///
/// # Errors
/// When the settings cannot be used, or there is no such tool.
pub fn tools(args: &ToolsArgs) -> Result<Exit> {
    if let Some(ToolsCommand::Call(args)) = &args.command {
        return call(args);
    }
    let config = Config::load(args.config.config.as_deref(), Vec::new())?;
    let tools = setup::tools(&config)?;
    let text = match (&args.name, args.form()) {
        (None, Form::Text) => listed(&tools),
        (None, Form::Json) => json(&tools.iter().map(|tool| tool.declaration()).collect::<Vec<_>>())?,
        (Some(name), Form::Text) => whole(&find(&tools, name)?.declaration()),
        (Some(name), Form::Json) => json(&find(&tools, name)?.declaration())?,
    };
    write_line(&text)?;
    Ok(Exit::Good)
}

fn find<'a>(tools: &'a [Arc<dyn Tool>], name: &str) -> Result<&'a Arc<dyn Tool>> {
    match tools.iter().find(|tool| tool.declaration().name == name) {
        Some(tool) => Ok(tool),
        None if tools.is_empty() => {
            bail!("there is no tool `{name}`: the settings give the agent none at all")
        }
        None => {
            let names: Vec<String> = tools.iter().map(|tool| tool.declaration().name).collect();
            bail!("there is no tool `{name}`: there are {}", names.join(", "))
        }
    }
}

/// A line for each tool.
pub fn listed(tools: &[Arc<dyn Tool>]) -> String {
    if tools.is_empty() {
        return "The settings give the agent no tools.".to_owned();
    }
    let line = |tool: &Arc<dyn Tool>| {
        let declaration = tool.declaration();
        format!(
            "{:<16} {:<12} {}",
            declaration.name,
            effect(&declaration),
            first_sentence(&declaration.description)
        )
    };
    harmless(&tools.iter().map(line).collect::<Vec<_>>().join("\n"))
}

/// The word of the journal for what a call may do to the world.
fn effect(declaration: &Declaration) -> String {
    let effect = serde_json::to_value(declaration.effect).unwrap_or_default();
    let effect = effect.as_str().unwrap_or_default().to_owned();
    if declaration.open_world { effect + ", open_world" } else { effect }
}

fn first_sentence(description: &str) -> &str {
    let paragraph = description.split("\n\n").next().unwrap_or_default();
    let end = paragraph.find(". ").map_or(paragraph.len(), |end| end + 1);
    &paragraph[..end]
}

fn whole(declaration: &Declaration) -> String {
    let Declaration { name, description, parameters, timeout, .. } = declaration;
    let timeout = timeout.unwrap_or(hermes_actors::TOOL_TIMEOUT).as_secs_f64();
    let effect = effect(declaration);
    harmless(&format!(
        "{name}  ({effect}, at most {timeout} s)\n\n{description}\n\nArguments: {parameters:#}"
    ))
}

fn json(value: &impl serde::Serialize) -> Result<String> {
    Ok(harmless_json(&serde_json::to_string_pretty(value)?))
}

fn call(args: &CallArgs) -> Result<Exit> {
    let config = Config::load(args.config.config.as_deref(), args.root.layer())?;
    let tools = setup::tools(&config)?;
    let tool = find(&tools, &args.name)?;
    let arguments: Map<String, Value> = serde_json::from_str(&args.arguments)
        .context("the arguments are no JSON object, such as '{\"path\": \"README.md\"}'")?;
    let threads = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let outcome = threads.block_on(tool.call(arguments, ToolContext::new("t1.0")));
    write_line(&harmless(&shown(&outcome)))?;
    Ok(if outcome.is_ok() { Exit::Good } else { Exit::Failed })
}

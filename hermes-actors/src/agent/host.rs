//! Hosting: an agent's actors, and those of its sub-agents, registered on a runtime.

use std::future::Future;
use std::pin::Pin;

use hermes_bus::journal::{BlobHash, JournalError};
use hermes_bus::{Address, Directory, Place, Runtime};

use super::{Agent, Backing, Hosted, RunError};
use crate::default_journal;
use crate::definition::{Definition, ToolDefinition};
use crate::llm::Llm;
use crate::run_states::RunStates;
use crate::sub_agent::Employment;
use crate::tests_on_drop;
use crate::tool::States;
use crate::tool_actor::ToolActor;

/// Registers everything that tasks of `agent` need, once per agent.
pub(super) async fn host(agent: &Agent) -> Result<Hosted, RunError> {
    let runtime = match &agent.0.runtime {
        Some(runtime) => runtime.clone(),
        None => Runtime::builder(default_journal::open()?).start(),
    };
    tests_on_drop::add(&runtime);
    let directory = runtime.directory();
    let runs = RunStates::default();
    let hosting = Hosting { runtime: &runtime, directory: &directory, runs: &runs };
    let definition = register(agent, hosting, "", States::default()).await?;
    Ok(Hosted { runtime, directory, definition, runs })
}

/// Where an agent and its sub-agents are registered, and where their tools find what a task was given.
#[derive(Clone, Copy)]
struct Hosting<'a> {
    runtime: &'a Runtime,
    directory: &'a Directory,
    runs: &'a RunStates,
}

type Registering<'a> = Pin<Box<dyn Future<Output = Result<BlobHash, RunError>> + Send + 'a>>;

/// Registers the actors of one agent in `scope`, and of its sub-agents in scopes below. `inherited` are the states of
/// the agents that it works for.
fn register<'a>(
    agent: &'a Agent,
    hosting: Hosting<'a>,
    scope: &'a str,
    inherited: States,
) -> Registering<'a> {
    Box::pin(async move {
        let Hosting { runtime, directory, runs } = hosting;
        let definition = &agent.0.definition;
        let states = agent.0.states.over(&inherited);
        let (model, settings) = (agent.0.model.clone(), definition.clone());
        let place = directory.place();
        let llm = Address::in_scope(scope, "llm");
        runtime.register(place, llm, move || Llm::new(model.clone(), &settings)).await?;
        for (ToolDefinition { declaration, .. }, backing) in definition.tools.iter().zip(&agent.0.tools) {
            let name = &declaration.name;
            let address = Address::in_scope(scope, &format!("tool.{name}"));
            match backing {
                Backing::Function(tool) => {
                    let actor = ToolActor::new(tool.clone(), declaration, states.clone(), runs.clone());
                    runtime.register(place, address, move || actor.clone()).await?;
                }
                Backing::Agent(sub) => {
                    let below = Address::in_scope(scope, name).to_string();
                    let hash = register(&sub.agent, hosting, &below, states.clone()).await?;
                    employ(runtime, place, address, sub, hash).await?;
                }
            }
        }
        Ok(keep(definition, runtime)?)
    })
}

async fn employ(
    runtime: &Runtime,
    place: Place,
    address: Address,
    sub: &super::AsTool,
    definition_hash: BlobHash,
) -> Result<(), RunError> {
    let employment = Employment {
        name: sub.agent.name().to_owned(),
        definition: sub.agent.0.definition.clone(),
        definition_hash,
        limits: sub.agent.0.limits,
        read_task: sub.read_task.clone(),
    };
    Ok(runtime.register(place, address, employment).await?)
}

/// Puts the definition into the journal's blobs.
fn keep(definition: &Definition, runtime: &Runtime) -> Result<BlobHash, JournalError> {
    let journal = runtime.journal();
    let json = serde_json::to_vec(definition).map_err(|source| JournalError::Io {
        action: "write",
        location: journal.location(),
        source: source.into(),
    })?;
    journal.put_blob(&json)
}

//! Hosting: an agent's actors, and those of its sub-agents, registered on a runtime.

use std::future::Future;
use std::pin::Pin;

use hermes_bus::journal::{BlobHash, JournalError};
use hermes_bus::{Address, Directory, Place, Runtime};

use super::{Agent, Backing, Hosted, RunError};
use crate::default_journal;
use crate::definition::Definition;
use crate::llm::Llm;
use crate::sub_agent::Employment;
use crate::tests_on_drop;
use crate::tool_actor::ToolActor;

/// Registers everything that tasks of `agent` need, once per agent.
pub(super) async fn host(agent: &Agent) -> Result<Hosted, RunError> {
    let runtime = match &agent.0.runtime {
        Some(runtime) => runtime.clone(),
        None => Runtime::builder(default_journal::open()?).start(),
    };
    tests_on_drop::add(&runtime);
    let directory = runtime.directory();
    let definition = register(agent, &runtime, &directory, "").await?;
    Ok(Hosted { runtime, directory, definition })
}

type Registering<'a> = Pin<Box<dyn Future<Output = Result<BlobHash, RunError>> + Send + 'a>>;

/// Registers the actors of one agent in `scope`, and of its sub-agents in scopes below.
fn register<'a>(
    agent: &'a Agent,
    runtime: &'a Runtime,
    directory: &'a Directory,
    scope: &'a str,
) -> Registering<'a> {
    Box::pin(async move {
        let definition = &agent.0.definition;
        let (model, settings) = (agent.0.model.clone(), definition.clone());
        let place = directory.place();
        let llm = Address::in_scope(scope, "llm");
        runtime.register(place, llm, move || Llm::new(model.clone(), &settings)).await?;
        for (tool, backing) in definition.tools.iter().zip(&agent.0.tools) {
            let name = &tool.declaration.name;
            let address = Address::in_scope(scope, &format!("tool.{name}"));
            match backing {
                Backing::Function(tool) => {
                    let tool = tool.clone();
                    runtime.register(place, address, move || ToolActor::new(tool.clone())).await?;
                }
                Backing::Agent(sub) => {
                    let below = Address::in_scope(scope, name).to_string();
                    let hash = register(&sub.agent, runtime, directory, &below).await?;
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

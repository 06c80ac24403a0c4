//! `hermes run`: one task, from its words to its exit code.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use hermes_actors::{Agent, Outcome, Runtime};
use hermes_llm::ChatModel;
use hermes_tools::Files;

use crate::args::RunArgs;
use crate::exit::Exit;
use crate::journal::{self, Opened};
use crate::printer::{self, Show};
use crate::signals::Signals;
use crate::terminal::{drain, say};
use crate::{model, report, task};

/// How long what is open when the task has ended may take to end too.
const GRACE: Duration = Duration::from_secs(5);

/// What the agent is told unless the user says otherwise.
const SYSTEM_PROMPT: &str = "You are Hermes, an assistant that can read the files below one folder, and nothing else. \
    Look things up with your tools instead of guessing, and name the files that your answer rests on. \
    When something is not there, say so. Answer in the language of the task.";

/// All that a run needs, checked.
struct Prepared {
    task: String,
    files: Files,
    model: Arc<dyn ChatModel>,
    opened: Opened,
}

/// Runs the task.
///
/// # Errors
/// When nothing could be run: the words of the error say what to change.
pub fn run(args: &RunArgs) -> Result<Exit> {
    printer::install(args.show());
    let prepared = prepare(args)?;
    let threads =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start threads")?;
    let exit = threads.block_on(drive(args, prepared));
    // A tool that blocks must not hold up the exit.
    threads.shutdown_background();
    exit
}

/// The journal comes last: what cannot run leaves none behind.
fn prepare(args: &RunArgs) -> Result<Prepared> {
    let task = task::read(&args.task)?;
    let files = Files::below(&args.root).context("name an existing folder with --root")?;
    let model = model::choose(args)?;
    let opened = journal::open(args.journal.as_deref())?;
    // An agent that finds its own words takes them for news.
    let files = opened.files.iter().fold(files, Files::hiding);
    Ok(Prepared { task, files, model, opened })
}

async fn drive(args: &RunArgs, prepared: Prepared) -> Result<Exit> {
    let signals = Signals::listen().context("cannot listen for signals")?;
    let Prepared { task, files, model, opened } = prepared;
    let runtime = Runtime::builder(opened.journal.clone()).start();
    let agent = agent(args, files, model, &runtime)?;
    let handle = agent.start(task).await?;
    signals.guard(handle.canceller());
    let outcome = handle.outcome().await;
    let exit = tell(args, &outcome, &opened);
    runtime.shutdown(GRACE).await;
    Ok(exit)
}

fn agent(args: &RunArgs, files: Files, model: Arc<dyn ChatModel>, runtime: &Runtime) -> Result<Agent> {
    let mut builder = Agent::builder("hermes")
        .system_prompt(args.system.as_deref().unwrap_or(SYSTEM_PROMPT))
        .model(model)
        .runtime(runtime);
    for tool in files.tools() {
        builder = builder.tool(tool);
    }
    if let Some(turns) = args.max_iterations {
        builder = builder.max_iterations(turns);
    }
    if let Some(time) = args.deadline {
        builder = builder.deadline(time);
    }
    Ok(builder.build()?)
}

/// Tells the outcome; the answer comes last, where the eye is.
fn tell(args: &RunArgs, outcome: &Outcome, opened: &Opened) -> Exit {
    report::tell(outcome, args.show());
    if let Some(note) = opened.note.as_ref().filter(|_| args.show() != Show::Trouble) {
        say(note);
    }
    drain();
    match report::give(outcome, args.form(), &opened.journal.location()) {
        Ok(()) => Exit::of(outcome),
        Err(error) => {
            say(&format!("error: cannot write the outcome to stdout: {error}"));
            Exit::Failed
        }
    }
}

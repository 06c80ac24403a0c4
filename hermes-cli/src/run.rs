//! `hermes run`: one task, from its words to its exit code.

use std::io;
use std::time::Duration;

use anyhow::{Context, Result};
use hermes_actors::{Outcome, Runtime};

use crate::args::RunArgs;
use crate::config::Config;
use crate::exit::Exit;
use crate::journal::Opened;
use crate::live::{self, Shown, Text};
use crate::printer::{self, Ends, Show};
use crate::setup::Setup;
use crate::signals::Signals;
use crate::terminal::{drain, say};
use crate::{report, task};

/// How long what is open when the task has ended may take to end too.
const GRACE: Duration = Duration::from_secs(5);

/// Runs the task.
///
/// # Errors
/// When nothing could be run: the words of the error say what to change.
pub fn run(args: &RunArgs) -> Result<Exit> {
    printer::install(args.show(), Ends::of(args.form()));
    let task = task::read(&args.task, &args.more)?;
    let setup = Setup::of(Config::load(args.config.config.as_deref(), args.settings.layer()?)?)?;
    let threads =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start threads")?;
    let exit = threads.block_on(drive(args, task, &setup));
    // A tool that blocks must not hold up the exit.
    threads.shutdown_background();
    exit
}

async fn drive(args: &RunArgs, task: String, setup: &Setup) -> Result<Exit> {
    let signals = Signals::listen().context("cannot listen for signals")?;
    let runtime = Runtime::builder(setup.opened.journal.clone()).start();
    let handle = setup.agent(&runtime)?.start(task).await?;
    signals.guard(handle.canceller());
    let live = live::show(&handle, Text::of_stdout(args.form()));
    let outcome = handle.outcome().await;
    let shown = live.end(&outcome).await;
    let exit = tell(args, &outcome, shown, &setup.opened);
    runtime.shutdown(GRACE).await;
    Ok(exit)
}

/// Tells the outcome; an answer that was not shown as it came is last, where the eye is.
fn tell(args: &RunArgs, outcome: &Outcome, shown: io::Result<Shown>, opened: &Opened) -> Exit {
    report::tell(outcome, args.show());
    if let Some(note) = opened.note.as_ref().filter(|_| args.show() != Show::Trouble) {
        say(note);
    }
    drain();
    let given = shown.and_then(|shown| match shown {
        Shown::Text => Ok(()),
        Shown::Nothing => report::give(outcome, args.form(), &opened.journal.location()),
    });
    match given {
        Ok(()) => Exit::of(outcome),
        Err(error) => {
            say(&format!("error: cannot write the outcome to stdout: {error}"));
            Exit::Failed
        }
    }
}

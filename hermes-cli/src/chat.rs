//! `hermes chat`: a conversation, in which each message is a task that goes on from the ones before.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use hermes_actors::{Agent, Outcome, Runtime};

use crate::args::ChatArgs;
use crate::config::Config;
use crate::exit::Exit;
use crate::live::{self, Shown, Text};
use crate::printer::{self, Show};
use crate::report::{self, Form};
use crate::setup::Setup;
use crate::signals::{Signal, Signals};
use crate::terminal::{drain, say};
use crate::tools;
use command::{Command, Meant};
use conversation::Conversation;
use input::{Entry, Input, Mode};

mod command;
mod conversation;
mod input;
mod joined;

/// How long what is open at the end may take to end too.
const GRACE: Duration = Duration::from_secs(5);

/// Talks until nothing more comes.
///
/// # Errors
/// When nothing could be begun: the words of the error say what to change.
pub fn chat(args: &ChatArgs) -> Result<Exit> {
    printer::install(args.show());
    let setup = Setup::of(Config::load(args.config.config.as_deref(), args.settings.layer()?)?)?;
    let input = Input::open()?;
    let threads =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start threads")?;
    let exit = threads.block_on(async {
        let runtime = Runtime::builder(setup.opened.journal.clone()).start();
        let exit = Chat::begin(&setup, &runtime)?.talk(input).await;
        runtime.shutdown(GRACE).await;
        exit
    });
    // A tool that blocks must not hold up the exit.
    threads.shutdown_background();
    exit
}

struct Chat<'a> {
    setup: &'a Setup,
    runtime: &'a Runtime,
    agent: Agent,
    signals: Signals,
    conversation: Conversation,
}

/// Whether the chat goes on.
enum Next {
    GoOn,
    End(Exit),
}

impl<'a> Chat<'a> {
    fn begin(setup: &'a Setup, runtime: &'a Runtime) -> Result<Self> {
        let signals = Signals::listen().context("cannot listen for signals")?;
        let agent = setup.agent(runtime)?;
        Ok(Self { setup, runtime, agent, signals, conversation: Conversation::default() })
    }

    async fn talk(mut self, mut input: Input) -> Result<Exit> {
        if input.mode == Mode::Person {
            let model = &self.agent.definition().model;
            say(&format!("Talking to {model}. /help tells the commands, Ctrl-D ends."));
        }
        let mut voids = 0;
        loop {
            drain();
            let entry = tokio::select! {
                entry = input.next() => entry,
                signal = self.signals.next() => match (signal, input.mode) {
                    // It came too late for a task that has just ended.
                    (Signal::Interrupt, Mode::Person) => continue,
                    _ => return Ok(Exit::Cancelled),
                },
            };
            voids = if matches!(entry, Entry::Void) { voids + 1 } else { 0 };
            match entry {
                Entry::Text(text) => {
                    if let Next::End(exit) = self.on(&text).await {
                        return Ok(exit);
                    }
                }
                Entry::Void if voids < 2 => say("(once more, or Ctrl-D, ends the chat)"),
                Entry::Void | Entry::Over => return Ok(Exit::Good),
                Entry::Unusable(why) => say(&format!("error: {why}")),
            }
        }
    }

    async fn on(&mut self, text: &str) -> Next {
        match command::read(text) {
            Meant::Nothing => {}
            Meant::Wrong(words) => say(&words),
            Meant::Command(Command::Quit) => return Next::End(Exit::Good),
            Meant::Command(command) => {
                if let Err(error) = self.obey(command) {
                    say(&format!("error: {error:#}"));
                }
            }
            Meant::Message(message) => return self.answer(message).await,
        }
        Next::GoOn
    }

    fn obey(&mut self, command: Command) -> Result<()> {
        match command {
            Command::Help => say(&command::help()),
            Command::Tools => say(&tools::listed(self.setup.tools())),
            Command::Stats => say(&self.conversation.stats()),
            Command::Trace => say(&self.conversation.traces(&self.setup.opened.journal.location())),
            Command::Reset => {
                self.conversation.reset();
                say("What was said is forgotten.");
            }
            Command::System(text) => {
                self.agent = self.setup.agent_told(&text, self.runtime)?;
                self.conversation.reset();
                say("The model is told this from now on; what was said is forgotten.");
            }
            Command::Save(path) => {
                save(&path, &self.conversation.transcript())?;
                say(&format!("Wrote {}.", path.display()));
            }
            Command::Quit => {}
        }
        Ok(())
    }

    async fn answer(&mut self, message: String) -> Next {
        let handle = match self.agent.start(self.conversation.request(&message)).await {
            Ok(handle) => handle,
            // Nothing that is asked now could be written down.
            Err(error) => {
                say(&format!("error: {error}"));
                return Next::End(Exit::Failed);
            }
        };
        let live = live::show(&handle, Text::of_stdout(Form::Text));
        let ended = self.signals.finish(handle).await;
        let shown = live.end().await;
        if let Err(error) = tell(&ended.outcome, shown) {
            say(&format!("error: cannot write the answer to stdout: {error}"));
            return Next::End(Exit::Failed);
        }
        self.conversation.add(message, &ended.outcome);
        match ended.signal {
            Some(Signal::Terminate) => Next::End(Exit::Cancelled),
            _ => Next::GoOn,
        }
    }
}

fn tell(outcome: &Outcome, shown: Shown) -> std::io::Result<()> {
    if shown == Shown::Nothing
        && let Some(answer) = &outcome.answer
    {
        report::write_text(answer)?;
    }
    report::tell(outcome, Show::Trouble);
    Ok(())
}

/// Writes a file that is not there yet.
fn save(path: &Path, text: &str) -> Result<()> {
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.with_context(|| format!("cannot write {}", path.display()))
}

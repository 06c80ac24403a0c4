//! `hermes chat`: a conversation, in which each message is a task that goes on from the ones before.

use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use hermes_actors::{Agent, Outcome, Runtime};

use crate::args::ChatArgs;
use crate::config::Config;
use crate::exit::Exit;
use crate::live::{self, Shown, Text};
use crate::printer::{self, Ends, Show};
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
    printer::install(args.show(), Ends::of(Form::Text));
    let setup = Setup::of(Config::load(args.config.config.as_deref(), args.settings.layer()?)?)?;
    // It gives the terminal back when it is dropped: last of all, for until then its thread may take it.
    let mut input = Input::open()?;
    let threads =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start threads")?;
    let exit = threads.block_on(async {
        let runtime = Runtime::builder(setup.opened.journal.clone()).start();
        let exit = Chat::begin(&setup, &runtime)?.talk(&mut input).await;
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
    /// What the last task means to the caller of the program.
    last: Exit,
}

/// Whether the chat goes on.
enum Next {
    GoOn,
    End(End),
}

/// Why it does not go on.
enum End {
    /// Whoever talks has ended it.
    Wanted,
    /// It cannot go on, or must not.
    Forced(Exit),
}

impl<'a> Chat<'a> {
    fn begin(setup: &'a Setup, runtime: &'a Runtime) -> Result<Self> {
        let signals = Signals::listen().context("cannot listen for signals")?;
        let agent = setup.agent(runtime)?;
        Ok(Self { setup, runtime, agent, signals, conversation: Conversation::default(), last: Exit::Good })
    }

    async fn talk(mut self, input: &mut Input) -> Result<Exit> {
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
                    if let Next::End(end) = self.on(&text).await {
                        return Ok(self.exit(end, input.mode));
                    }
                }
                Entry::Void if voids < 2 => say("(once more, or Ctrl-D, ends the chat)"),
                Entry::Void | Entry::Over => return Ok(self.exit(End::Wanted, input.mode)),
                Entry::Broken(error) => return Err(error).context("cannot read standard input"),
                Entry::Unusable(why) => say(&format!("error: {why}")),
            }
        }
    }

    /// A person has seen how the tasks ended; whoever calls a script sees its exit code only.
    fn exit(&self, end: End, mode: Mode) -> Exit {
        match (end, mode) {
            (End::Forced(exit), _) => exit,
            (End::Wanted, Mode::Script) => self.last,
            (End::Wanted, Mode::Person) => Exit::Good,
        }
    }

    async fn on(&mut self, text: &str) -> Next {
        match command::read(text) {
            Meant::Nothing => {}
            Meant::Wrong(words) => say(&words),
            Meant::Command(Command::Quit) => return Next::End(End::Wanted),
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
                return Next::End(End::Forced(Exit::Failed));
            }
        };
        let live = live::show(&handle, Text::of_stdout(Form::Text));
        let canceller = handle.canceller();
        let work = async {
            let outcome = handle.outcome().await;
            let shown = live.end(&outcome).await;
            (outcome, shown)
        };
        let ((outcome, shown), signal) = self.signals.finish(&canceller, work).await;
        match shown.and_then(|shown| tell(&outcome, shown)) {
            Ok(()) => {}
            // Who has gone away would not read the next answer either.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Next::End(End::Wanted),
            Err(error) => {
                say(&format!("error: cannot write the answer to stdout: {error}"));
                return Next::End(End::Forced(Exit::Failed));
            }
        }
        self.last = Exit::of(&outcome);
        self.conversation.add(message, &outcome);
        match signal {
            Some(Signal::Terminate) => Next::End(End::Forced(Exit::Cancelled)),
            _ => Next::GoOn,
        }
    }
}

fn tell(outcome: &Outcome, shown: Shown) -> io::Result<()> {
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

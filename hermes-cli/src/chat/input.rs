//! What is entered: on a terminal with an editor for lines, else the lines of standard input.

use std::io::{self, BufRead, IsTerminal, stdin, stdout};
use std::sync::mpsc;
use std::thread;

use anyhow::{Context, Result};
use rustyline::Editor;
use rustyline::config::Config;
use rustyline::error::ReadlineError;
use rustyline::history::MemHistory;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::joined::Joined;
use crate::terminal::{Keyboard, take_end};

/// What stands before a line, and before one that goes on from the last.
const PROMPTS: (&str, &str) = ("> ", "… ");

/// What was entered.
#[derive(Debug)]
pub enum Entry {
    Text(String),
    /// Ctrl-C: what was being entered is void.
    Void,
    /// Nothing more will come.
    Over,
    /// It cannot be used, and why.
    Unusable(String),
    /// Nothing more can be read.
    Broken(io::Error),
}

/// Whether a person sits at a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Person,
    Script,
}

/// A thread that reads when it is asked to.
pub struct Input {
    pub mode: Mode,
    wanted: mpsc::Sender<()>,
    entries: UnboundedReceiver<Entry>,
    asked: Asked,
    /// Of a person.
    keyboard: Option<Keyboard>,
}

/// Whether the thread is reading for us.
#[derive(PartialEq)]
enum Asked {
    Yes,
    No,
}

enum Source {
    Editor(Box<Editor<(), MemHistory>>),
    Lines,
}

impl Input {
    /// Reads what a person enters if both streams are a terminal, else what stands on standard input.
    ///
    /// # Errors
    /// When the terminal cannot be used.
    pub fn open() -> Result<Self> {
        let mode = if stdin().is_terminal() && stdout().is_terminal() { Mode::Person } else { Mode::Script };
        let (mut source, keyboard) = match mode {
            Mode::Person => {
                let keyboard = Keyboard::of_stdin().context("cannot use the terminal")?;
                let editor = editor().context("cannot use the terminal")?;
                (Source::Editor(Box::new(editor)), Some(keyboard))
            }
            Mode::Script => (Source::Lines, None),
        };
        let (wanted, wishes) = mpsc::channel();
        let (tell, entries) = unbounded_channel();
        let reader = thread::Builder::new().name("input".to_owned());
        reader.spawn(move || read_all(&mut source, &wishes, &tell)).context("cannot start a thread")?;
        Ok(Self { mode, wanted, entries, asked: Asked::No, keyboard })
    }

    /// The next entry.
    ///
    /// # Cancel safety
    /// Nothing is lost when it is dropped: what is entered meanwhile comes with the next call.
    pub async fn next(&mut self) -> Entry {
        if self.asked == Asked::No {
            self.asked = Asked::Yes;
            // A thread that has ended has said that it is over.
            let _ = self.wanted.send(());
        }
        let entry = self.entries.recv().await.unwrap_or(Entry::Over);
        self.asked = Asked::No;
        entry
    }
}

impl Drop for Input {
    /// The editor gives the terminal back when it has a line: one that is still reading never will.
    fn drop(&mut self) {
        if let (Asked::Yes, Some(keyboard)) = (&self.asked, &self.keyboard) {
            keyboard.give_back();
        }
    }
}

fn editor() -> rustyline::Result<Editor<(), MemHistory>> {
    let config = Config::builder().auto_add_history(false).build();
    let history = MemHistory::with_config(&config);
    Editor::with_history(config, history)
}

fn read_all(source: &mut Source, wishes: &mpsc::Receiver<()>, tell: &UnboundedSender<Entry>) {
    for () in wishes {
        if tell.send(source.entry()).is_err() {
            return;
        }
    }
}

impl Source {
    /// Lines up to one that does not end with a backslash.
    fn entry(&mut self) -> Entry {
        let mut joined = Joined::default();
        loop {
            let prompt = if joined.is_empty() { PROMPTS.0 } else { PROMPTS.1 };
            match self.line(prompt) {
                Entry::Text(line) => {
                    if let Some(text) = joined.add(&line) {
                        self.remember(&text);
                        return Entry::Text(text);
                    }
                }
                // What was begun is all that comes.
                Entry::Over if !joined.is_empty() => return Entry::Text(joined.end()),
                other => return other,
            }
        }
    }

    fn line(&mut self, prompt: &str) -> Entry {
        match self {
            Self::Lines => plain_line(),
            Self::Editor(_) if take_end() => Entry::Over,
            Self::Editor(editor) => match editor.readline(prompt) {
                Ok(line) => Entry::Text(line),
                Err(ReadlineError::Interrupted) => Entry::Void,
                Err(_) => Entry::Over,
            },
        }
    }

    fn remember(&mut self, text: &str) {
        if let Self::Editor(editor) = self {
            // What cannot be remembered can be entered again.
            let _ = editor.add_history_entry(text);
        }
    }
}

fn plain_line() -> Entry {
    let mut bytes = Vec::new();
    match stdin().lock().read_until(b'\n', &mut bytes) {
        Ok(0) => Entry::Over,
        Ok(_) => match String::from_utf8(bytes) {
            Ok(line) => Entry::Text(line.trim_end_matches(['\n', '\r']).to_owned()),
            Err(_) => Entry::Unusable("a line is no UTF-8 text: it is left out".to_owned()),
        },
        Err(error) => Entry::Broken(error),
    }
}

//! The `hermes` program: runs tasks and holds conversations with an agent that reads files, shows its settings and tools, and checks the
//! journals that runs leave.

mod args;
mod chat;
mod completions;
mod config;
mod demo;
mod duration;
mod exit;
mod guess;
mod journal;
mod live;
mod model;
mod printer;
mod report;
mod run;
mod setup;
mod signals;
mod task;
mod terminal;
mod tools;
mod verify;
mod waiting;

use std::process::ExitCode;

use args::{Args, Command, TraceCommand};
use clap::Parser;
use exit::Exit;

fn main() -> ExitCode {
    let done = match Args::parse().command {
        Command::Run(args) => run::run(&args),
        Command::Chat(args) => chat::chat(&args),
        Command::Config(args) => config::shown::show(&args),
        Command::Tools(args) => tools::tools(&args),
        Command::Completions { shell } => completions::print(shell),
        Command::Trace(TraceCommand::Verify(args)) => verify::verify(&args),
    };
    let exit = done.unwrap_or_else(|error| {
        terminal::wait_for(None);
        terminal::say(&format!("error: {}", words(&error)));
        Exit::Usage
    });
    terminal::drain();
    exit.into()
}

/// The error and what lies below it; many an error says that itself already.
fn words(error: &anyhow::Error) -> String {
    let mut words = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if !words.contains(&cause) {
            words += if words.is_empty() { "" } else { ": " };
            words += &cause;
        }
    }
    words
}

//! The `hermes` program: runs a task with an agent that reads files, and checks the journals that runs leave.

mod args;
mod demo;
mod duration;
mod exit;
mod journal;
mod model;
mod printer;
mod report;
mod run;
mod signals;
mod task;
mod terminal;
mod verify;

use std::process::ExitCode;

use args::{Args, Command, TraceCommand};
use clap::Parser;
use exit::Exit;

fn main() -> ExitCode {
    let done = match Args::parse().command {
        Command::Run(args) => run::run(&args),
        Command::Trace(TraceCommand::Verify(args)) => verify::verify(&args),
    };
    let exit = done.unwrap_or_else(|error| {
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

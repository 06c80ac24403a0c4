//! The command line.

use clap::{Parser, Subcommand};
use clap_complete::Shell;

pub use chat::ChatArgs;
pub use config::ConfigArgs;
pub use run::RunArgs;
pub use tools::{CallArgs, ToolsArgs, ToolsCommand};
pub use trace::{TraceCommand, VerifyArgs};

mod chat;
mod config;
mod run;
mod tools;
mod trace;

const EXAMPLES: &str = "\
Examples:
  hermes run --model demo \"What is in this folder?\"
  hermes chat --model demo
  hermes config --init
  hermes tools call list_directory
  hermes trace verify hermes_trace.jsonl";

const COMPLETIONS_ABOUT: &str = "\
Print what makes a shell complete the words of `hermes`. Where it belongs, by shell:

  bash    hermes completions bash > ~/.local/share/bash-completion/completions/hermes
  zsh     hermes completions zsh > ~/.zfunc/_hermes      (with `fpath+=~/.zfunc` before `compinit` in ~/.zshrc)
  fish    hermes completions fish > ~/.config/fish/completions/hermes.fish";

/// Runs AI agents of which every message is on record.
#[derive(Parser)]
#[command(name = "hermes", version, after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Subcommand)]
pub enum Command {
    /// Run a task with an agent that can list, read and search the files below a folder.
    // Here and not at the arguments: what a variant says of itself wins over them.
    #[command(long_about = run::ABOUT, after_help = run::EXAMPLES)]
    Run(Box<RunArgs>),
    /// Talk with such an agent.
    #[command(long_about = chat::ABOUT, after_help = chat::EXAMPLES)]
    Chat(Box<ChatArgs>),
    /// Show the settings in force, and where each was said.
    #[command(long_about = config::ABOUT, after_help = config::EXAMPLES)]
    Config(Box<ConfigArgs>),
    /// List the tools of the agent, or call one by hand.
    #[command(long_about = tools::ABOUT, after_help = tools::EXAMPLES)]
    Tools(ToolsArgs),
    /// Look into journals.
    #[command(subcommand)]
    Trace(TraceCommand),
    /// Print completions for a shell.
    #[command(long_about = COMPLETIONS_ABOUT)]
    Completions {
        /// The shell
        shell: Shell,
    },
}

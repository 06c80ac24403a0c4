//! `hermes completions`: what makes a shell complete our words.

use anyhow::Result;
use clap::CommandFactory;
use clap_complete::{Shell, generate};

use crate::args::Args;
use crate::exit::Exit;
use crate::report::write_line;

/// Prints the completions for a shell.
///
/// # Errors
/// When stdout cannot be written.
pub fn print(shell: Shell) -> Result<Exit> {
    let mut script = Vec::new();
    generate(shell, &mut Args::command(), "hermes", &mut script);
    write_line(String::from_utf8_lossy(&script).trim_end())?;
    Ok(Exit::Good)
}

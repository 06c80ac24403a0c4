//! The text of the task: an argument, or standard input.

use std::io::Read;

use anyhow::{Context, Result, bail};

use crate::terminal::clip;

/// Reads the task; `-` stands for standard input. Nothing may follow it.
///
/// # Errors
/// When there is no task, or more than one argument.
pub fn read(argument: &str, more: &[String]) -> Result<String> {
    if !more.is_empty() {
        let task = clip(&format!("{argument} {}", more.join(" ")), 60);
        bail!("the task is several words: put the task in quotes, as in `hermes run \"{task}\"`");
    }
    let task = match argument {
        "-" => from_input()?,
        text => text.to_owned(),
    };
    if task.trim().is_empty() {
        bail!("the task is empty: say what should be done, such as `hermes run \"What is in this folder?\"`");
    }
    Ok(task)
}

fn from_input() -> Result<String> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes).context("cannot read the task from standard input")?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        anyhow::anyhow!(
            "the task on standard input is no UTF-8 text (byte {at}): convert it, with iconv for example"
        )
    })?;
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}

//! The arguments of `hermes config`.

use crate::config::{ConfigFlag, SettingFlags};
use crate::report::Form;

pub const ABOUT: &str = "\
Show every setting in force, its value, and where it was said: in the file (with its line), in a variable of the
environment, by an option given here, or nowhere (default). Keys and the values of headers are not shown whole.

The file is the one that --config names, else the one that HERMES_CONFIG names, else ./hermes.yaml if it is there.
Options win over the environment, the environment over the file, and the file over the defaults.";

pub const EXAMPLES: &str = "\
Examples:
  hermes config --init                 (writes a hermes.yaml with a word on each setting)
  hermes config
  hermes config --json | jq '.settings[\"model.endpoint\"].source'
  hermes config --config ~/ollama.yaml --max-iterations 3

Exit codes:
  0    the settings can be used
  2    something in them cannot; the words say what, where, and what can";

/// `hermes config`
#[derive(clap::Args)]
pub struct ConfigArgs {
    #[command(flatten)]
    pub config: ConfigFlag,

    #[command(flatten)]
    pub settings: SettingFlags,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Write a first hermes.yaml, with a word on each setting, where none is yet
    #[arg(long, conflicts_with = "json")]
    pub init: bool,
}

impl ConfigArgs {
    /// What goes to stdout.
    pub fn form(&self) -> Form {
        if self.json { Form::Json } else { Form::Text }
    }
}

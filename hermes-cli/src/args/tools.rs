//! The arguments of `hermes tools`.

use clap::Subcommand;

use crate::config::{ConfigFlag, RootFlag};
use crate::report::Form;

pub const ABOUT: &str = "\
List the tools of the agent as the model sees them: name, effect, and the first sentence of what they say of themselves.
With a name, that tool whole.";

pub const EXAMPLES: &str = "\
Examples:
  hermes tools
  hermes tools search_files
  hermes tools --json | jq '.[].parameters'
  hermes tools call read_file '{\"path\": \"README.md\"}' --root ~/notes";

const CALL_ABOUT: &str = "\
Run one tool by hand, as a model would call it; no model is asked, and no journal is written. stdout gets what the model
would read.";

const CALL_EXAMPLES: &str = "\
Examples:
  hermes tools call list_directory '{}'
  hermes tools call search_files '{\"text\": \"Berlin\"}' --root ~/notes

Exit codes:
  0    the tool succeeded
  1    it failed: what a model would be told stands on stdout
  2    there is no such tool, or the arguments are no JSON object";

/// `hermes tools`
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct ToolsArgs {
    /// The tool to show whole
    pub name: Option<String>,

    #[command(flatten)]
    pub config: ConfigFlag,

    /// Print JSON, with the schemas of the arguments
    #[arg(long)]
    json: bool,

    #[command(subcommand)]
    pub command: Option<ToolsCommand>,
}

/// What to do with a tool.
#[derive(Subcommand)]
pub enum ToolsCommand {
    /// Run one tool by hand; no model is asked.
    #[command(long_about = CALL_ABOUT, after_help = CALL_EXAMPLES)]
    Call(CallArgs),
}

/// `hermes tools call`
#[derive(clap::Args)]
pub struct CallArgs {
    /// The tool
    pub name: String,

    /// Its arguments, a JSON object
    #[arg(default_value = "{}", value_name = "JSON")]
    pub arguments: String,

    #[command(flatten)]
    pub config: ConfigFlag,

    #[command(flatten)]
    pub root: RootFlag,
}

impl ToolsArgs {
    /// What goes to stdout.
    pub fn form(&self) -> Form {
        if self.json { Form::Json } else { Form::Text }
    }
}

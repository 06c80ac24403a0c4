//! The arguments of `hermes run`.

use crate::config::{ConfigFlag, SettingFlags};
use crate::printer::Show;
use crate::report::Form;

pub const EXAMPLES: &str = "\
Examples:
  hermes run --model demo \"What is in this folder?\"        (asks no model)
  LLM_BASE_URL=http://localhost:11434/v1 LLM_MODEL=qwen2.5:7b hermes run \"Which files mention Berlin?\"
  hermes run --root ~/notes --deadline 2m --json - < task.txt
  hermes run --temperature 0.7 --max-tokens 500 --stop END \"Write a limerick about the files here.\"

Environment (`hermes config` shows what is in force, and where it was said):
  HERMES_CONFIG   a file with settings, instead of ./hermes.yaml
  LLM_BASE_URL    where an OpenAI-compatible server listens
  LLM_MODEL       which of its models is asked
  LLM_API_KEY     the key, if it wants one
  HERMES_JOURNAL  a path, or `memory`
  HERMES_…        the other settings of hermes.yaml: HERMES_MAX_ITERATIONS for max_iterations
  RUST_LOG        which diagnostics are shown beside the flow (warnings unless told)
  NO_COLOR        no colours

Exit codes:
  0    the task was completed
  1    it failed, or the model refused it
  2    nothing was run: arguments or settings cannot be used
  3    a limit stopped it: turns, deadline, budget, going in circles, length of the context
  4    the model's endpoint could not be reached, or refused us
  130  it was cancelled, by Ctrl-C or SIGTERM";

pub const ABOUT: &str = "\
Run a task with an agent that can list, read and search the files below a folder.

stdout gets the answer (on a terminal, as it comes), or with --json the whole outcome; nothing else. stderr gets the flow
of messages as it happens, then the statistics, and the journal's place when it is a new one. On a terminal that shows the
answer too, the flow only names it. The exit code says how the task ended (see below). Every message is kept in a journal, which the agent itself cannot see.";

/// `hermes run`
#[derive(clap::Args)]
pub struct RunArgs {
    /// What should be done, in quotes; `-` reads it from standard input
    pub task: String,

    /// What follows a task without quotes
    #[arg(hide = true)]
    pub more: Vec<String>,

    #[command(flatten)]
    pub config: ConfigFlag,

    #[command(flatten)]
    pub settings: SettingFlags,

    /// Print the whole outcome as one JSON object instead of the answer
    #[arg(long)]
    json: bool,

    /// Show no flow and no statistics
    #[arg(long, short, conflicts_with = "verbose")]
    quiet: bool,

    /// Show notes too, such as the moments when tools begin
    #[arg(long, short)]
    verbose: bool,
}

impl RunArgs {
    /// How much is shown.
    pub fn show(&self) -> Show {
        match (self.quiet, self.verbose) {
            (true, _) => Show::Trouble,
            (_, true) => Show::Notes,
            _ => Show::Flow,
        }
    }

    /// What goes to stdout.
    pub fn form(&self) -> Form {
        if self.json { Form::Json } else { Form::Text }
    }
}

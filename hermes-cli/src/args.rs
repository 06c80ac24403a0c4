//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, Subcommand};
use hermes_actors::laws::Ending;

use crate::duration;
use crate::printer::Show;
use crate::report::Form;
use crate::verify::Digests;

const EXAMPLES: &str = "\
Examples:
  hermes run --model demo \"What is in this folder?\"
  hermes trace verify hermes_trace.jsonl";

const RUN_EXAMPLES: &str = "\
Examples:
  hermes run --model demo \"What is in this folder?\"        (asks no model)
  LLM_BASE_URL=http://localhost:11434/v1 LLM_MODEL=qwen2.5:7b hermes run \"Which files mention Berlin?\"
  hermes run --root ~/notes --deadline 2m --json - < task.txt

Environment:
  LLM_BASE_URL    where an OpenAI-compatible server listens
  LLM_MODEL       which of its models is asked
  LLM_API_KEY     the key, if it wants one
  HERMES_JOURNAL  a path, or `memory`
  RUST_LOG        which diagnostics are shown beside the flow (warnings unless told)
  NO_COLOR        no colours

Exit codes:
  0    the task was completed
  1    it failed, or the model refused it
  2    nothing was run: arguments or settings cannot be used
  3    a limit stopped it: turns, deadline, budget, going in circles, length of the context
  4    the model's endpoint could not be reached, or refused us
  130  it was cancelled, by Ctrl-C or SIGTERM";

const RUN_ABOUT: &str = "\
Run a task with an agent that can list, read and search the files below a folder.

stdout gets the answer, or with --json the whole outcome; nothing else. stderr gets the flow of messages as it
happens, then the statistics, and the journal's place when it is a new one. The exit code says how the task ended (see
below). Every message is kept in a journal, which the agent itself cannot see.";

const VERIFY_ABOUT: &str = "\
Check that a journal keeps the ten laws. stdout gets a line for each breach (FILE:LINE: which law, and why), then the
verdict.

   1. Every line parses and has every field.
   2. Numbers (seq) increase, in the journal and in each trace.
   3. No id is used twice.
   4. A parent is earlier and in the same trace; only what comes from outside, or goes to a topic, may have none.
   5. A command or query has at most one end that is not late.
   6. A task that has finished has nothing open and sends nothing more.
   7. A message with tool calls is followed at once by one tool message for each, and none stands without its call.
   8. A tool call is sent once, and as the model asked for it.
   9. What a model was asked is what the journal holds: the digests agree.
  10. A destructive tool was called only when that was granted, for these arguments.";

const VERIFY_EXAMPLES: &str = "\
Examples:
  hermes trace verify hermes_trace.jsonl
  hermes trace verify --crashed hermes_trace-2.jsonl
  hermes trace verify --no-digests old.r1.jsonl old.jsonl

Exit codes:
  0    all laws hold
  1    a law is broken; each breach stands on a line
  2    a file cannot be read, or is no journal";

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
    #[command(long_about = RUN_ABOUT, after_help = RUN_EXAMPLES)]
    Run(RunArgs),
    /// Look into journals.
    #[command(subcommand)]
    Trace(TraceCommand),
}

/// What to do with a journal.
#[derive(Subcommand)]
pub enum TraceCommand {
    /// Check that a journal keeps the ten laws.
    #[command(long_about = VERIFY_ABOUT, after_help = VERIFY_EXAMPLES)]
    Verify(VerifyArgs),
}

/// `hermes run`
#[derive(clap::Args)]
pub struct RunArgs {
    /// What should be done, in quotes; `-` reads it from standard input
    pub task: String,

    /// The folder that the agent may read, with all that is below it
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub root: PathBuf,

    /// The model, instead of LLM_MODEL; `demo` plays a scripted conversation and asks no model
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,

    /// Where the model is asked, instead of LLM_BASE_URL: http://localhost:11434/v1 for example
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,

    /// What the model is told before the task, instead of the built-in words
    #[arg(long, value_name = "TEXT")]
    pub system: Option<String>,

    /// How many turns the task may take: model calls that may ask for tools [default: 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_iterations: Option<u32>,

    /// How long the task may take, such as 500ms, 30s or 2m [default: no limit]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub deadline: Option<Duration>,

    /// Where the run is written, instead of HERMES_JOURNAL or ./hermes_trace.jsonl; `memory` keeps nothing
    #[arg(long, value_name = "PATH|memory")]
    pub journal: Option<OsString>,

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

/// `hermes trace verify`
#[derive(clap::Args)]
pub struct VerifyArgs {
    /// The files of one journal, oldest first; for a single file, those rotated away from it are found
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Leave out law 9, which needs the folder FILE.blobs beside the journal
    #[arg(long)]
    no_digests: bool,

    /// Allow a torn last line and unfinished tasks: the writer was killed, or is still writing
    #[arg(long)]
    crashed: bool,
}

impl VerifyArgs {
    /// Whether law 9 is checked.
    pub fn digests(&self) -> Digests {
        if self.no_digests { Digests::Skip } else { Digests::Check }
    }

    /// How the writer ended.
    pub fn ending(&self) -> Ending {
        if self.crashed { Ending::Crashed } else { Ending::Whole }
    }
}

//! The arguments of `hermes trace`.

use std::path::PathBuf;

use clap::{Subcommand, ValueHint};
use hermes_actors::laws::Ending;

use crate::verify::Digests;

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

/// What to do with a journal.
#[derive(Subcommand)]
pub enum TraceCommand {
    /// Check that a journal keeps the ten laws.
    #[command(long_about = VERIFY_ABOUT, after_help = VERIFY_EXAMPLES)]
    Verify(VerifyArgs),
}

/// `hermes trace verify`
#[derive(clap::Args)]
pub struct VerifyArgs {
    /// The files of one journal, oldest first; for a single file, those rotated away from it are found
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
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

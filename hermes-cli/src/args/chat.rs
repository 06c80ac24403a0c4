//! The arguments of `hermes chat`.

use crate::config::{ConfigFlag, SettingFlags};
use crate::printer::Show;

pub const ABOUT: &str = "\
Talk with an agent that can list, read and search the files below a folder. Each message is a task that goes on from the
ones before; limits such as --deadline hold for each.

On a terminal, lines can be edited, and the answer is shown as it comes. Otherwise each line of standard input is a
message, stdout gets the answers and nothing else, and the end of the input ends the chat. Commands begin with a slash:
/help tells them. Every message is kept in a journal, which the agent itself cannot see.";

pub const EXAMPLES: &str = "\
Examples:
  hermes chat --model demo                                   (asks no model)
  hermes chat --root ~/notes --system \"You are terse.\"
  printf 'My name is Ana.\\nWhat is my name?\\n' | hermes chat

Keys:
  Ctrl-C   cancels the task that is running, or clears the line; twice at an empty line ends the chat
  Ctrl-D   ends the chat
  Up       the message before
  \\        at the end of a line: the message goes on in the next

Exit codes (on a terminal, 0 however the tasks ended; otherwise the last task counts):
  0    the chat was ended; its last task was completed, or there was none
  1    the last task failed, or the model refused it; or the journal or stdout can no longer be written
  2    nothing was begun: arguments or settings cannot be used
  3    a limit stopped the last task
  4    the last task could not reach the model's endpoint, or was refused by it
  130  the last task was cancelled; or SIGTERM ended the chat, or Ctrl-C while no task was running";

/// `hermes chat`
#[derive(clap::Args)]
pub struct ChatArgs {
    #[command(flatten)]
    pub config: ConfigFlag,

    #[command(flatten)]
    pub settings: SettingFlags,

    /// Show the flow of messages too, on stderr; twice, with its notes
    #[arg(long, short, action = clap::ArgAction::Count)]
    verbose: u8,
}

impl ChatArgs {
    /// How much is shown beside the answers.
    pub fn show(&self) -> Show {
        match self.verbose {
            0 => Show::Trouble,
            1 => Show::Flow,
            _ => Show::Notes,
        }
    }
}

//! The printer: the live flow as it is, and warnings and errors of all parts, as lines on stderr.

use std::backtrace::Backtrace;
use std::fmt::{Debug, Write};

use hermes_actors::FLOW_TARGET;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::{Layer, registry};

use crate::terminal::{Colour, drain, harmless, say, say_painted};

pub use ends::Ends;

mod ends;

/// How much of a run is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Show {
    /// Warnings and errors.
    Trouble,
    /// The flow: asks and ends.
    Flow,
    /// The flow with its notes.
    Notes,
}

impl Show {
    fn flow(self) -> LevelFilter {
        match self {
            Self::Trouble => LevelFilter::OFF,
            Self::Flow => LevelFilter::INFO,
            Self::Notes => LevelFilter::DEBUG,
        }
    }
}

/// Prints from now on, panics too. `RUST_LOG` may ask for more than warnings of targets other than the flow.
pub fn install(show: Show, ends: Ends) {
    let asked =
        std::env::var("RUST_LOG").ok().filter(|text| !text.is_empty()).and_then(|text| text.parse().ok());
    let others: Targets = asked.unwrap_or_else(|| Targets::new().with_default(LevelFilter::WARN));
    let filter = others.with_target(FLOW_TARGET, show.flow());
    let printer = Printer { colour: Colour::of_stderr(), ends };
    // Else a panic would wait for stderr on the thread that it ends.
    std::panic::set_hook(Box::new(|panic| {
        say(&format!("{panic}\n{}", Backtrace::capture()));
        drain();
    }));
    // It fails only when a printer is installed already.
    let _ = tracing::subscriber::set_global_default(registry().with(filter).with(printer));
}

struct Printer {
    colour: Colour,
    ends: Ends,
}

impl<S: Subscriber> Layer<S> for Printer {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut said = Said::default();
        event.record(&mut said);
        let metadata = event.metadata();
        say_painted(match metadata.target() {
            FLOW_TARGET => flow_line(&self.ends.shown(&said.message), self.colour),
            _ => trouble_line(*metadata.level(), &said, self.colour),
        });
    }
}

/// What an event says: its message, and its other fields.
#[derive(Default)]
struct Said {
    message: String,
    fields: String,
}

impl Visit for Said {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        // Writing to a string does not fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, "{}{name}={value:?}", if self.fields.is_empty() { "" } else { ", " }),
        };
    }
}

/// The line with its first word in capitals coloured: COMMAND, EVENT or QUERY.
fn flow_line(line: &str, colour: Colour) -> String {
    let line = harmless(line);
    let Some(start) = line.find(|c: char| c.is_ascii_uppercase()) else { return line };
    let (before, rest) = line.split_at(start);
    let (kind, rest) = rest.split_at(rest.find(' ').unwrap_or(rest.len()));
    let code = match kind {
        "COMMAND" => "36",
        "EVENT" => "32",
        "QUERY" => "35",
        _ => return line,
    };
    format!("{before}{}{rest}", colour.paint(kind, code))
}

fn trouble_line(level: Level, said: &Said, colour: Colour) -> String {
    let (word, code) = match level {
        Level::ERROR => ("error:", "31"),
        Level::WARN => ("warning:", "33"),
        Level::INFO => ("info:", "2"),
        Level::DEBUG => ("debug:", "2"),
        Level::TRACE => ("trace:", "2"),
    };
    let fields = if said.fields.is_empty() { String::new() } else { format!(" ({})", said.fields) };
    format!("{} {}{}", colour.paint(word, code), harmless(&said.message), harmless(&fields))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_an_envelope_is_coloured() {
        let line = "[00] COMMAND user -> orchestrator: EVENT 北京";
        assert_eq!(flow_line(line, Colour::Off), line);
        assert_eq!(
            flow_line(line, Colour::On),
            "[00] \x1b[36mCOMMAND\x1b[0m user -> orchestrator: EVENT 北京"
        );
        let note = "     EVENT   tool.a -> tool.a: started t1.0";
        assert_eq!(flow_line(note, Colour::On), "     \x1b[32mEVENT\x1b[0m   tool.a -> tool.a: started t1.0");
        assert_eq!(flow_line("Nothing", Colour::On), "Nothing");
        assert_eq!(flow_line("", Colour::On), "");
    }

    #[test]
    fn trouble_has_a_word_for_its_level() {
        let said = Said { message: "asking again\x1b[2J".into(), fields: "wait=1s".into() };
        assert_eq!(trouble_line(Level::WARN, &said, Colour::Off), "warning: asking again [2J (wait=1s)");
        assert_eq!(trouble_line(Level::ERROR, &Said::default(), Colour::On), "\x1b[31merror:\x1b[0m ");
    }
}

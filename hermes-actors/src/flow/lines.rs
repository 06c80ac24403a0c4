//! The lines of a flow: numbers, directions, and what an envelope is about.

use std::collections::HashMap;

use hermes_bus::journal::Entry;
use hermes_bus::{Id, Kind};

use super::words;

/// One line.
pub(super) enum Line {
    /// An ask or an end.
    Numbered(String),
    /// Anything else.
    Note(String),
}

/// What must be known of a trace to print its next line.
#[derive(Default)]
pub(super) struct Lines {
    printed: u32,
    first: Option<Id>,
    /// What the envelopes that may enter a context are about.
    about: HashMap<Id, About>,
}

/// What an envelope that enters a context is about.
pub(super) enum About {
    /// It is the end of a call of this tool.
    Tool(String),
    /// It holds these words.
    Words(String),
}

impl Lines {
    pub(super) fn line(&mut self, entry: &Entry<'_>) -> Line {
        self.first.get_or_insert(entry.id);
        let payload = serde_json::from_str(entry.payload.get()).unwrap_or_default();
        let about = match &*entry.name {
            "task.start" => Some(About::Words(words::string(&payload, "task").to_owned())),
            "tool.rejected" => Some(About::Tool(words::string(&payload, "tool").to_owned())),
            _ => entry.sender.name().strip_prefix("tool.").map(|tool| About::Tool(tool.to_owned())),
        };
        let text = words::of(&entry.name, &payload, &self.about);
        self.about.extend(about.map(|about| (entry.id, about)));
        let kind = entry.kind.as_str().to_uppercase();
        let line = format!("{kind:<7} {} -> {}: {text}", entry.sender, entry.receiver);
        let numbered = entry.kind != Kind::Event || entry.in_reply_to.is_some();
        if !numbered || entry.late {
            return Line::Note(format!("     {line}"));
        }
        let number = self.printed;
        self.printed += 1;
        Line::Numbered(format!("[{number:02}] {line}"))
    }

    /// Whether the first ask of the trace has its end with this.
    pub(super) fn is_over(&self, entry: &Entry<'_>) -> bool {
        entry.in_reply_to.is_some() && entry.in_reply_to == self.first
    }
}

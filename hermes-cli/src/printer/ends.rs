//! How the flow shows the answer of a task, or why it failed, where both stand on the same screen anyway.

use std::borrow::Cow;
use std::io::{IsTerminal, stderr};

use hermes_actors::End;

use crate::report::Form;
use crate::terminal::is_watched;

/// What a line of the flow says that ends the task: its answer, or why it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// All that it says.
    Whole,
    /// That it is there: whoever reads the flow finds it on the same screen.
    Named,
}

impl Ends {
    /// Named when stdout shows the answer on the terminal that shows the flow.
    pub fn of(form: Form) -> Self {
        let together = form == Form::Text && is_watched() && stderr().is_terminal();
        if together { Self::Named } else { Self::Whole }
    }

    /// The line as it is shown.
    pub fn shown(self, line: &str) -> Cow<'_, str> {
        match self {
            Self::Whole => line.into(),
            Self::Named => named_end(line),
        }
    }
}

/// The line with the answer of the task, or the words of its failure, only named. What a task goes on from, and what is
/// about another agent, stays whole.
fn named_end(line: &str) -> Cow<'_, str> {
    let Some((path, text)) = line.split_once(": ") else { return line.into() };
    let named = if path.ends_with(" EVENT   orchestrator -> final") {
        Some(named_outcome(text))
    } else if path.ends_with(" EVENT   llm -> orchestrator") {
        named_reply(text)
    } else {
        None
    };
    named.map_or(line.into(), |named| format!("{path}: {named}").into())
}

const ANSWER: &str = "(the answer)";

/// `(failed)` of `(failed) and why`.
fn named_outcome(text: &str) -> &str {
    let end = text.strip_prefix('(').and_then(|text| text.split_once(')')).map_or("", |(word, _)| word);
    let is_end = serde_json::from_value::<End>(end.into()).is_ok();
    if is_end { &text[..end.len() + 2] } else { ANSWER }
}

/// `unreachable` of `unreachable: and why`; none where the task goes on: after calls of tools, and most failures.
fn named_reply(text: &str) -> Option<&str> {
    let kind = text.split_once(": ").map_or("", |(kind, _)| kind);
    let is_kind = !kind.is_empty() && kind.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    match kind {
        "unreachable" | "timeout" | "unauthorized" | "bad_request" | "server" | "rate_limited" => Some(kind),
        _ if is_kind || text.starts_with("tool_calls[") => None,
        _ => Some(ANSWER),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_that_stands_on_the_screen_is_only_named() {
        for (line, named) in [
            (
                "[06] EVENT   llm -> orchestrator: (demo) 晴: 22°C",
                "[06] EVENT   llm -> orchestrator: (the answer)",
            ),
            (
                "[07] EVENT   orchestrator -> final: (demo) 晴",
                "[07] EVENT   orchestrator -> final: (the answer)",
            ),
            (
                "[02] EVENT   llm -> orchestrator: unreachable: why: that",
                "[02] EVENT   llm -> orchestrator: unreachable",
            ),
            (
                "[03] EVENT   orchestrator -> final: (failed) why",
                "[03] EVENT   orchestrator -> final: (failed)",
            ),
            (
                "[03] EVENT   orchestrator -> final: (cancelled)",
                "[03] EVENT   orchestrator -> final: (cancelled)",
            ),
        ] {
            assert_eq!(named_end(line), named);
        }
        for line in [
            "[00] COMMAND user -> orchestrator: hi",
            "[02] EVENT   llm -> orchestrator: tool_calls[a()]",
            "[02] EVENT   llm -> orchestrator: bad_reply: it is empty",
            "[04] EVENT   researcher/llm -> researcher/orchestrator: found",
            "",
        ] {
            assert_eq!(named_end(line), line);
        }
    }
}

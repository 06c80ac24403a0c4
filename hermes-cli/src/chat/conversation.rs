//! A conversation: what was said, what the next task goes on from, and what all of it used.

use std::fmt::Write;

use hermes_actors::{End, History, Outcome, Spent, TaskRequest};

/// What was said so far.
#[derive(Default)]
pub struct Conversation {
    past: Option<History>,
    exchanges: Vec<Exchange>,
    /// What all tasks of the chat used, those forgotten too.
    spent: Spent,
    messages: u32,
    last: Option<Outcome>,
}

/// A message and what came of it.
struct Exchange {
    message: String,
    outcome: Outcome,
}

impl Conversation {
    /// The message as a task that goes on from what was said.
    pub fn request(&self, message: &str) -> TaskRequest {
        TaskRequest::new(message).after(self.past.clone())
    }

    /// Takes in what came of a message.
    pub fn add(&mut self, message: String, outcome: &Outcome) {
        // A task that died leaves no context: the one before it is still good.
        self.past = outcome.history.clone().or(self.past.take());
        self.spent = self.spent.with(outcome.stats.spent());
        self.messages += 1;
        self.last = Some(outcome.clone());
        self.exchanges.push(Exchange { message, outcome: outcome.clone() });
    }

    /// Forgets what was said; what it used is not forgotten.
    pub fn reset(&mut self) {
        self.past = None;
        self.exchanges.clear();
    }

    /// What the last task and the whole chat used.
    pub fn stats(&self) -> String {
        let Some(last) = &self.last else { return "Nothing was asked yet.".to_owned() };
        let Spent { llm_calls, input_tokens, output_tokens, tool_calls, tool_failures } = self.spent;
        let messages = self.messages;
        format!(
            "{}\nWhole chat: {messages} message{} | LLM calls: {llm_calls} | Tokens in: {input_tokens} | Tokens out: \
             {output_tokens} | Tool calls: {tool_calls} | failed: {tool_failures}",
            last.summary(),
            if messages == 1 { "" } else { "s" },
        )
    }

    /// Where each message can be looked up.
    pub fn traces(&self, journal: &str) -> String {
        let mut traces = String::new();
        for (number, Exchange { message, outcome }) in self.exchanges.iter().enumerate() {
            let begin = crate::terminal::clip(message.lines().next().unwrap_or_default(), 40);
            // Writing to a string does not fail.
            let _ = writeln!(traces, "{:>3}. {} {begin}", number + 1, outcome.trace_id);
        }
        format!("{traces}Journal: {journal}")
    }

    /// What was said, as Markdown.
    pub fn transcript(&self) -> String {
        let mut transcript = String::new();
        for Exchange { message, outcome } in &self.exchanges {
            let answer = outcome.answer.as_deref().unwrap_or_default();
            let end = match outcome.end {
                End::Completed => String::new(),
                end => format!("*({})*\n", end.as_str()),
            };
            let _ = writeln!(transcript, "## You\n\n{message}\n\n## Hermes\n\n{answer}\n{end}");
        }
        transcript
    }
}

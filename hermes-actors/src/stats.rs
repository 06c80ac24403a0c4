//! Statistics of one task, counted by its machine from what was delivered to it.

use std::fmt;
use std::time::Duration;

use hermes_llm::Usage;
use serde::{Deserialize, Serialize};

/// How many of the slowest steps are kept.
const SLOWEST: usize = 5;

/// What a task used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Stats {
    /// Turns.
    pub iterations: u32,
    /// Model calls that ended, well or badly.
    pub llm_calls: u32,
    /// Tokens read by the model.
    pub input_tokens: u64,
    /// Tokens written by the model.
    pub output_tokens: u64,
    /// Input tokens that the provider had cached.
    pub cached_tokens: u64,
    /// Tool calls that ended.
    pub tool_calls: u32,
    /// Those of them that failed.
    pub tool_failures: u32,
    /// Calls that the model asked for and that were not made.
    pub rejected_calls: u32,
    /// From `task.start` to `task.finished`, in milliseconds.
    pub total_ms: u64,
    /// The slowest steps, slowest first.
    pub slowest: Vec<StepTime>,
}

/// How long one step took.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StepTime {
    /// The tool's name, or `llm`.
    pub step: String,
    /// Milliseconds.
    pub ms: u64,
}

impl Stats {
    pub(crate) fn model_call(&mut self, usage: Usage, took_ms: u64) {
        self.llm_calls += 1;
        // What a provider reports may be any number.
        self.input_tokens = self.input_tokens.saturating_add(usage.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(usage.output_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(usage.cached_tokens);
        self.took("llm", took_ms);
    }

    pub(crate) fn tool_call(&mut self, tool: &str, failed: bool, took_ms: u64) {
        self.tool_calls += 1;
        self.tool_failures += u32::from(failed);
        self.took(tool, took_ms);
    }

    fn took(&mut self, step: &str, ms: u64) {
        let at = self.slowest.partition_point(|other| other.ms >= ms);
        if at < SLOWEST {
            self.slowest.insert(at, StepTime { step: step.to_owned(), ms });
            self.slowest.truncate(SLOWEST);
        }
    }
}

/// The three lines under a run: calls, tokens, times.
impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (tokens_in, tokens_out) = (self.input_tokens, self.output_tokens);
        writeln!(f, "LLM calls: {} | Tokens in: {tokens_in} | Tokens out: {tokens_out}", self.llm_calls)?;
        let succeeded = self.tool_calls - self.tool_failures;
        writeln!(
            f,
            "Tool calls: {} | succeeded: {succeeded} | failed: {}",
            self.tool_calls, self.tool_failures
        )?;
        write!(f, "Latency: {} total", seconds(self.total_ms))?;
        let first_of_its_name =
            |(at, step): &(usize, &StepTime)| self.slowest[..*at].iter().all(|s| s.step != step.step);
        let steps = self.slowest.iter().enumerate().filter(first_of_its_name);
        let steps: Vec<String> = steps.map(|(_, s)| format!("{}({})", s.step, seconds(s.ms))).collect();
        if steps.is_empty() { Ok(()) } else { write!(f, " | slowest: {}", steps.join(", ")) }
    }
}

fn seconds(ms: u64) -> String {
    let seconds = Duration::from_millis(ms).as_secs_f64();
    if ms < 10 { format!("{seconds:.3}s") } else { format!("{seconds:.2}s") }
}

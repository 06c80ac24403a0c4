//! Statistics of one task, counted by its machine from what was delivered to it.

use std::fmt;
use std::time::Duration;

use hermes_llm::Usage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many of the slowest steps are kept.
const SLOWEST: usize = 5;

/// What a task used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
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
    /// What its sub-agents used, at any depth, beside all this.
    #[serde(skip_serializing_if = "Spent::is_nothing")]
    pub by_sub_agents: Spent,
}

/// What tasks used, summed up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Spent {
    /// Model calls that ended.
    pub llm_calls: u32,
    /// Tokens read by models.
    pub input_tokens: u64,
    /// Tokens written by models.
    pub output_tokens: u64,
    /// Tool calls that ended.
    pub tool_calls: u32,
    /// Those of them that failed.
    pub tool_failures: u32,
}

impl Spent {
    pub(crate) fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Both together. Sums stop at the largest number: what a provider reports may be any.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self {
            llm_calls: self.llm_calls.saturating_add(other.llm_calls),
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            tool_calls: self.tool_calls.saturating_add(other.tool_calls),
            tool_failures: self.tool_failures.saturating_add(other.tool_failures),
        }
    }
}

/// How long one step took.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct StepTime {
    /// The tool's name, or `llm`.
    pub step: String,
    /// Milliseconds.
    pub ms: u64,
}

impl Stats {
    /// What the task used, its sub-agents included: what it cost.
    pub fn spent(&self) -> Spent {
        let own = Spent {
            llm_calls: self.llm_calls,
            input_tokens: self.input_tokens,
            output_tokens: self.output_tokens,
            tool_calls: self.tool_calls,
            tool_failures: self.tool_failures,
        };
        own.with(self.by_sub_agents)
    }

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

/// The three lines under a run: calls, tokens, times. The sums include the sub-agents.
impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Spent { llm_calls, input_tokens, output_tokens, tool_calls, tool_failures } = self.spent();
        let theirs =
            |number: u32| if number == 0 { String::new() } else { format!(" ({number} by sub-agents)") };
        let by_sub_agents = (theirs(self.by_sub_agents.llm_calls), theirs(self.by_sub_agents.tool_calls));
        write!(f, "LLM calls: {llm_calls}{} | ", by_sub_agents.0)?;
        writeln!(f, "Tokens in: {input_tokens} | Tokens out: {output_tokens}")?;
        let succeeded = tool_calls.saturating_sub(tool_failures);
        write!(f, "Tool calls: {tool_calls}{} | ", by_sub_agents.1)?;
        write!(f, "succeeded: {succeeded} | failed: {tool_failures}")?;
        if self.rejected_calls > 0 {
            write!(f, " | not made: {}", self.rejected_calls)?;
        }
        write!(f, "\nLatency: {} total", seconds(self.total_ms))?;
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

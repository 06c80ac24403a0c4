//! The environment variables that name an endpoint.

use std::fmt;

pub(super) const BASE_URL: Variable = Variable { name: "LLM_BASE_URL", example: "http://localhost:11434/v1" };
pub(super) const API_KEY: Variable = Variable { name: "LLM_API_KEY", example: "sk-..." };
pub(super) const MODEL: Variable = Variable { name: "LLM_MODEL", example: "qwen2.5:7b" };

/// One of the environment variables; shown with an example of its value.
#[derive(Clone, Copy)]
pub(super) struct Variable {
    pub(super) name: &'static str,
    pub(super) example: &'static str,
}

impl Variable {
    /// The value without white space around it; one that is empty counts as not set.
    pub(super) fn read(self, lookup: impl Fn(&str) -> Option<String>) -> Option<String> {
        lookup(self.name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }
}

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (for example {}={})", self.name, self.name, self.example)
    }
}

/// What the environment says.
pub(super) fn read_env(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

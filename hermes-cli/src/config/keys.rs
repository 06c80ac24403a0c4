//! The settings: their names, what they may be, and where else they can be said.

use super::kind::Kind;

/// The tools that there are.
pub const TOOLS: &[&str] = &["list_directory", "read_file", "search_files"];

/// One setting.
#[derive(Debug)]
pub struct Key {
    /// Its path in the file, with dots.
    pub name: &'static str,
    /// Another name of it in the file.
    pub alias: Option<&'static str>,
    pub kind: Kind,
    pub variable: Option<&'static str>,
    /// What holds when nobody says anything, as JSON.
    pub default: &'static str,
    pub force: Force,
}

/// Whether a setting changes anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Force {
    Now,
    NotYet,
}

const fn key(name: &'static str, kind: Kind, variable: &'static str, default: &'static str) -> Key {
    let variable = if variable.is_empty() { None } else { Some(variable) };
    Key { name, alias: None, kind, variable, default, force: Force::Now }
}

/// All of them, in the order in which they are shown.
pub const KEYS: &[Key] = &[
    key("model.endpoint", Kind::Address, "LLM_BASE_URL", "null"),
    key("model.model_name", Kind::Text, "LLM_MODEL", "null"),
    key("model.api_key", Kind::Secret, "LLM_API_KEY", "null"),
    key("model.api_key_env", Kind::Variable, "", "null"),
    key("model.headers", Kind::Secrets, "", "{}"),
    key("model.query", Kind::Secrets, "", "{}"),
    key("model.body", Kind::Fields, "", "{}"),
    key("model.streaming", Kind::Switch, "HERMES_STREAMING", "true"),
    key("model.temperature", Kind::Temperature, "HERMES_TEMPERATURE", "0"),
    key("model.max_tokens", Kind::Count, "HERMES_MAX_TOKENS", "null"),
    key("model.stop", Kind::Texts, "", "[]"),
    key("model.seed", Kind::Whole, "HERMES_SEED", "null"),
    key("model.tool_choice", Kind::OneOf(&["auto", "none", "required"]), "HERMES_TOOL_CHOICE", "null"),
    Key {
        force: Force::NotYet,
        ..key("context_budget_tokens", Kind::Count, "HERMES_CONTEXT_BUDGET_TOKENS", "null")
    },
    Key { alias: Some("max_steps"), ..key("max_iterations", Kind::Count, "HERMES_MAX_ITERATIONS", "8") },
    key("request_timeout_seconds", Kind::Seconds, "HERMES_REQUEST_TIMEOUT_SECONDS", "60"),
    key("task_timeout_seconds", Kind::Seconds, "HERMES_TASK_TIMEOUT_SECONDS", "null"),
    key("system_prompt", Kind::Text, "HERMES_SYSTEM_PROMPT", SYSTEM_PROMPT),
    key("tools", Kind::SomeOf(TOOLS), "HERMES_TOOLS", r#"["list_directory","read_file","search_files"]"#),
    key("root", Kind::Path, "HERMES_ROOT", r#"".""#),
    key("journal", Kind::Journal, "HERMES_JOURNAL", r#""hermes_trace.jsonl""#),
];

/// What the agent is told unless the user says otherwise, as JSON.
const SYSTEM_PROMPT: &str = "\"You are Hermes, an assistant that can read the files below one folder, and nothing else. \
    Look things up with your tools instead of guessing, and name the files that your answer rests on. \
    When something is not there, say so. Answer in the language of the task.\"";

/// The setting of this name.
pub fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name || key.alias == Some(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tools_are_those_that_there_are() {
        let folder = tempfile::tempdir().unwrap();
        let files = hermes_tools::Files::below(folder.path()).unwrap();
        let names: Vec<String> = files.tools().iter().map(|tool| tool.declaration().name).collect();
        assert_eq!(names, TOOLS);
    }

    #[test]
    fn what_holds_anyway_is_what_could_be_said() {
        for Key { name, kind, default, .. } in KEYS {
            let value: serde_json::Value = serde_json::from_str(default).unwrap();
            let said = super::super::document::read(&match name.split_once('.') {
                Some((section, name)) => format!("{section}: {{{name}: {default}}}"),
                None => format!("{name}: {default}"),
            });
            let said = said.map_err(|wrong| wrong.words).unwrap();
            assert_eq!(
                said.first().map(|said| &said.value),
                Some(&value).filter(|value| !value.is_null()),
                "{kind:?}"
            );
        }
    }
}

//! The demo model: a scripted conversation that fits any task and uses the real tools.

use hermes_llm::{ScriptedModel, Step};
use serde_json::json;

/// Its name as an option.
pub const NAME: &str = "demo";

/// What it is, for whoever sees it at work.
pub const LABEL: &str =
    "demo model: a scripted conversation, no model is asked; set LLM_BASE_URL and LLM_MODEL to ask one";

/// Lists the folder, then answers.
pub fn model() -> ScriptedModel {
    let answer = "(demo) The folder was really listed; what is in it, nobody read.";
    ScriptedModel::conversation([Step::call("list_directory", json!({})), Step::text(answer)])
}

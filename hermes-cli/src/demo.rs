//! The demo model: a scripted conversation that fits any task and uses the real tools.

use hermes_llm::{ScriptedModel, Step};
use serde_json::json;

/// Its name as an option.
pub const NAME: &str = "demo";

/// What it is, for whoever sees it at work.
pub const LABEL: &str = "demo model: a scripted conversation, no model was asked";

/// Lists the folder, then answers.
pub fn model() -> ScriptedModel {
    let answer = format!(
        "({LABEL}) The folder was really listed. To have the task done, set LLM_BASE_URL and LLM_MODEL, and leave \
         out `--model demo`."
    );
    ScriptedModel::conversation([Step::call("list_directory", json!({})), Step::text(answer)])
}

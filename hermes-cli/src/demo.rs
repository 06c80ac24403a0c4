//! The demo model: a script that fits any task and any conversation, and uses the real tools.

use async_trait::async_trait;
use hermes_llm::{
    ChatError, ChatMessage, ChatModel, ChatReply, ChatRequest, Deltas, Role, ScriptedModel, Step,
};
use serde_json::json;

/// Its name as a model.
pub const NAME: &str = "demo";

/// What it is, for whoever sees it at work.
pub const LABEL: &str =
    "demo model: a scripted conversation, no model is asked; set LLM_BASE_URL and LLM_MODEL to ask one";

/// Lists the folder for the first message, then answers; repeats the message before for each later one.
pub struct Demo;

#[async_trait]
impl ChatModel for Demo {
    fn name(&self) -> &str {
        NAME
    }

    async fn chat(&self, request: ChatRequest, deltas: Deltas) -> Result<ChatReply, ChatError> {
        let messages = request.messages.decode().map_err(|error| ChatError::bad_reply(error.to_string()))?;
        ScriptedModel::new([step(&messages, &request)]).chat(request, deltas).await
    }
}

fn step(messages: &[ChatMessage], request: &ChatRequest) -> Step {
    let users: Vec<_> = messages.iter().filter(|message| message.role == Role::User).collect();
    let can_list = request.tools.iter().any(|tool| tool.name == "list_directory");
    match (&users[..], messages.last().map(|message| &message.role)) {
        ([.., before, _], _) => {
            let before = before.text().unwrap_or_default();
            Step::text(format!("(demo) Before this you said: {before}"))
        }
        (_, Some(Role::User)) if can_list => Step::call("list_directory", json!({})),
        (_, Some(Role::Tool)) => Step::text(
            "(demo) The tool list_directory really ran; this answer is scripted, no model was asked.",
        ),
        _ => Step::text("(demo) There is no tool to list the folder with."),
    }
}

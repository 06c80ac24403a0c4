//! A call: one tool call of the current turn and how far it has come.

use hermes_bus::Id;
use hermes_llm::{ChatMessage, ToolCall};
use serde_json::{Map, Value};

use crate::definition::{Definition, ToolKind};
use crate::protocol::RejectReason;
use crate::tool::{Effect, Image, ToolError, shown, tool_message};

/// One tool call that the model asked for.
#[derive(Debug, Clone, Hash)]
pub(super) struct Call {
    pub call_id: String,
    pub tool: String,
    pub kind: Backing,
    pub progress: Progress,
}

/// What stands behind the tool: who can end the call.
#[derive(Debug, Clone, Copy, PartialEq, Hash)]
pub(super) enum Backing {
    Function,
    Agent,
}

/// How far a call has come.
#[derive(Debug, Clone, Hash)]
pub(super) enum Progress {
    /// It waits for a place.
    Queued(Arguments),
    /// Its `tool.call` is open.
    Sent { ask: Id, since_ms: i64 },
    /// It is open, and its end has been asked for.
    Ending { ask: Id, since_ms: i64 },
    /// It has its tool message.
    Ended(Told),
}

/// Parsed arguments.
#[derive(Debug, Clone)]
pub(super) struct Arguments(pub Map<String, Value>);

impl std::hash::Hash for Arguments {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        for (key, value) in &self.0 {
            key.hash(state);
            value.to_string().hash(state);
        }
    }
}

/// What the model will read of a call.
#[derive(Debug, Clone, Hash)]
pub(super) enum Told {
    /// An envelope holds it.
    By { of: Id, shown: String, images: Vec<Image> },
    /// It stands nowhere else.
    Here { shown: String },
}

/// Whether a call can be made.
pub(super) enum Judged {
    Fit(Call),
    Unfit { call: ToolCall, reason: RejectReason, message: String },
}

impl Judged {
    /// Whether the output limit may have ended it: its arguments do not parse, or had not begun.
    pub(super) fn may_be_cut_off(&self) -> bool {
        match self {
            Judged::Fit(Call { progress: Progress::Queued(arguments), .. }) => arguments.0.is_empty(),
            Judged::Fit(_) => false,
            Judged::Unfit { reason, .. } => *reason == RejectReason::UnusableArguments,
        }
    }
}

impl Call {
    /// The open ask, if there is one.
    pub(super) fn open(&self) -> Option<(Id, i64)> {
        match self.progress {
            Progress::Sent { ask, since_ms } | Progress::Ending { ask, since_ms } => Some((ask, since_ms)),
            Progress::Queued(_) | Progress::Ended(_) => None,
        }
    }

    /// Its tool message and the envelope that holds it.
    pub(super) fn into_told(self) -> Option<(ChatMessage, Option<Id>)> {
        let Progress::Ended(told) = self.progress else { return None };
        let (shown, images, of) = match told {
            Told::By { of, shown, images } => (shown, images, Some(of)),
            Told::Here { shown } => (shown, Vec::new(), None),
        };
        Some((tool_message(self.call_id, shown, &images), of))
    }
}

/// Judges what the model asked for.
pub(super) fn judge(call: &ToolCall, definition: &Definition) -> Judged {
    let unfit = |reason, message: String| Judged::Unfit { call: call.clone(), reason, message };
    let Some(tool) = definition.tool(&call.name) else {
        let known: Vec<&str> = definition.tools.iter().map(|t| t.declaration.name.as_str()).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        return unfit(
            RejectReason::Unknown,
            format!("there is no tool `{}`. The tools are: {known}", call.name),
        );
    };
    if tool.declaration.effect == Effect::Destructive {
        let why = format!("`{}` needs an approval and nobody can give it here; it was not run", call.name);
        return unfit(RejectReason::Denied, why);
    }
    let kind = match tool.kind {
        ToolKind::Function => Backing::Function,
        ToolKind::Agent => Backing::Agent,
    };
    match parse(&call.arguments) {
        Ok(arguments) => {
            let progress = Progress::Queued(Arguments(arguments));
            Judged::Fit(Call { call_id: call.id.clone(), tool: call.name.clone(), kind, progress })
        }
        Err(why) => unfit(RejectReason::UnusableArguments, why),
    }
}

/// The arguments as an object. A text of nothing is an object of nothing: so models call a tool without parameters.
fn parse(text: &str) -> Result<Map<String, Value>, String> {
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(_) => Err("the arguments are not a JSON object; call the tool again with an object".to_owned()),
        Err(why) => {
            Err(format!("the arguments are not valid JSON ({why}); call the tool again with valid JSON"))
        }
    }
}

/// `ERROR: …` as the model reads it.
pub(super) fn error_shown(message: &str) -> String {
    shown(&Err(ToolError::new(message)))
}

//! Law 9: the digest of an `llm.chat` equals that of the context rebuilt from what the journal holds.

use std::collections::HashMap;

use hermes_bus::journal::{Journal, JournalError, Record};
use hermes_bus::laws::{Broken, OpenEntry};
use hermes_bus::{Envelope, Id, Payload};
use hermes_llm::ChatMessage;

use crate::definition::Definition;
use crate::digest::Digest;
use crate::protocol::{Append, LlmChat, LlmReplied, TaskStart, ToolFailed, ToolRejected, ToolReturned};

/// Checks law 9. It needs the blobs, where the definitions are.
///
/// # Errors
/// When the journal cannot be read.
pub fn digests(journal: &dyn Journal, records: &[Record]) -> Result<Vec<Broken>, JournalError> {
    let mut contexts: HashMap<(String, String), Digest> = HashMap::new();
    let mut seen: HashMap<Id, Envelope> = HashMap::new();
    let mut broken = Vec::new();
    for (at, record) in records.iter().enumerate() {
        let entry = match hermes_bus::journal::Entry::parse(record) {
            Ok(entry) => entry,
            Err(_) if !is_chat(record) => continue,
            Err(why) => {
                broken.push(Broken {
                    law: 9,
                    line: at + 1,
                    seq: Some(record.seq),
                    text: format!("not checked: {why}"),
                });
                continue;
            }
        };
        let envelope = entry.envelope(journal)?;
        let scope =
            |address: &hermes_bus::Address| (envelope.trace_id.to_string(), address.scope().to_owned());
        let wrong = match envelope.body.name() {
            TaskStart::NAME => {
                open(journal, &envelope).map(|digest| _ = contexts.insert(scope(&envelope.receiver), digest))
            }
            LlmChat::NAME => match contexts.get_mut(&scope(&envelope.sender)) {
                Some(digest) => follow(&envelope, digest, &seen),
                None => Err("it belongs to no task".to_owned()),
            },
            _ => Ok(()),
        };
        if let Err(text) = wrong {
            broken.push(Broken { law: 9, line: at + 1, seq: Some(record.seq), text });
        }
        seen.insert(envelope.id, envelope);
    }
    Ok(broken)
}

/// Whether the other laws take the line for a chat: then a chat that cannot be read here is no chat that keeps law 9.
fn is_chat(record: &Record) -> bool {
    OpenEntry::parse(&record.line).is_ok_and(|entry| entry.name == LlmChat::NAME)
}

/// The digest of a context that holds the system message only.
fn open(journal: &dyn Journal, start: &Envelope) -> Result<Digest, String> {
    let start = start.get::<TaskStart>().map_err(|why| why.to_string())?;
    let json = journal.blob(&start.definition).map_err(|why| why.to_string())?;
    let definition: Definition = serde_json::from_slice(&json).map_err(|why| why.to_string())?;
    let system = ChatMessage::system(definition.system_prompt.as_str());
    let empty = definition.system_prompt.is_empty();
    Ok(if empty { Digest::default() } else { Digest::default().with(&system.render()) })
}

fn follow(chat: &Envelope, digest: &mut Digest, seen: &HashMap<Id, Envelope>) -> Result<(), String> {
    let chat = chat.get::<LlmChat>().map_err(|why| why.to_string())?;
    for append in &chat.append {
        let message = match append {
            Append::Message(message) => message.clone(),
            Append::Of { of } => {
                held_by(seen.get(of).ok_or(format!("append refers to {of}, which is not there"))?)?
            }
        };
        *digest = digest.with(&message.render());
    }
    if *digest == chat.digest {
        Ok(())
    } else {
        Err(format!("the digest says {}, the context {digest}", chat.digest))
    }
}

/// The chat message that an envelope holds.
fn held_by(envelope: &Envelope) -> Result<ChatMessage, String> {
    let tool = |call_id: &str, shown: &str| ChatMessage::tool(call_id, shown);
    let message = match envelope.body.name() {
        TaskStart::NAME => envelope.get::<TaskStart>().map(|p| ChatMessage::user(p.task.as_str())),
        LlmReplied::NAME => envelope.get::<LlmReplied>().map(|p| p.message.clone()),
        ToolReturned::NAME => envelope.get::<ToolReturned>().map(|p| tool(&p.call_id, &p.shown)),
        ToolFailed::NAME => envelope.get::<ToolFailed>().map(|p| tool(&p.call_id, &p.shown)),
        ToolRejected::NAME => envelope.get::<ToolRejected>().map(|p| tool(&p.call_id, &p.shown)),
        other => return Err(format!("a {other} holds no chat message")),
    };
    message.map_err(|why| why.to_string())
}

//! Law 9: the digest of an `llm.chat` equals that of the context rebuilt from what the journal holds.

use std::collections::HashMap;

use hermes_bus::journal::{Entry, Journal, Record};
use hermes_bus::laws::{Broken, OpenEntry};
use hermes_bus::{Id, Payload, TraceId};
use hermes_llm::ChatMessage;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::definition::Definition;
use crate::digest::Digest;
use crate::protocol::{
    Append, History, LlmChat, LlmReplied, TaskStart, ToolFailed, ToolRejected, ToolReturned,
};
use crate::tool::{Image, image, tool_message};

/// Checks law 9. It needs the blobs, where the definitions are; what it cannot follow it reports.
pub fn digests(journal: &dyn Journal, records: &[Record]) -> Vec<Broken> {
    let mut checker = Digests { journal, contexts: HashMap::new(), seen: HashMap::new() };
    let mut broken = Vec::new();
    for (at, record) in records.iter().enumerate() {
        let checked = match Entry::parse(record) {
            Ok(entry) => checker.check(&entry, record),
            Err(why) if is_chat(record) => Err(format!("not checked: {why}")),
            Err(_) => Ok(()),
        };
        if let Err(text) = checked {
            broken.push(Broken { law: 9, line: at + 1, seq: Some(record.seq), text });
        }
    }
    broken
}

struct Digests<'a> {
    journal: &'a dyn Journal,
    /// The digest of each scope's context in a trace.
    contexts: HashMap<(TraceId, String), Digest>,
    /// What may be referred to. It is read only when it is.
    seen: HashMap<Id, &'a Record>,
}

impl<'a> Digests<'a> {
    fn check(&mut self, entry: &Entry<'_>, record: &'a Record) -> Result<(), String> {
        self.seen.insert(entry.id, record);
        match &*entry.name {
            TaskStart::NAME => {
                let digest = self.open(entry)?;
                self.contexts.insert((entry.trace_id, entry.receiver.scope().to_owned()), digest);
                Ok(())
            }
            LlmChat::NAME => self.follow(entry),
            _ => Ok(()),
        }
    }

    /// The digest of a context that holds the system message only, or what an earlier task left.
    fn open(&self, start: &Entry<'_>) -> Result<Digest, String> {
        let envelope = start.envelope(self.journal).map_err(words)?;
        let start = envelope.get::<TaskStart>().map_err(words)?;
        if let Some(history) = &start.history {
            return self.left(history);
        }
        let json = self.journal.blob(&start.definition).map_err(words)?;
        let definition: Definition = serde_json::from_slice(&json).map_err(words)?;
        let system = ChatMessage::system(definition.system_prompt.as_str());
        let empty = definition.system_prompt.is_empty();
        Ok(if empty { Digest::default() } else { Digest::default().with(&system.render()) })
    }

    /// The digest of the context that an earlier task sent last.
    fn left(&self, History { trace, digest, .. }: &History) -> Result<Digest, String> {
        match self.contexts.get(&(*trace, String::new())) {
            Some(left) if left == digest => Ok(*left),
            Some(left) => Err(format!("its history has the digest {digest}, the context there {left}")),
            None => Err(format!("its history is in the trace {trace}, where no task is")),
        }
    }

    fn follow(&mut self, chat: &Entry<'_>) -> Result<(), String> {
        let key = (chat.trace_id, chat.sender.scope().to_owned());
        let mut digest = *self.contexts.get(&key).ok_or("it belongs to no task")?;
        let envelope = chat.envelope(self.journal).map_err(words)?;
        let chat = envelope.get::<LlmChat>().map_err(words)?;
        for append in &chat.append {
            let message = match append {
                Append::Message(message) => message.clone(),
                Append::Of { of } => self.held_by(*of)?,
            };
            digest = digest.with(&message.render());
        }
        self.contexts.insert(key, digest);
        if digest == chat.digest {
            return Ok(());
        }
        Err(format!("the digest says {}, the context {digest}", chat.digest))
    }

    /// The chat message that an envelope holds.
    fn held_by(&self, of: Id) -> Result<ChatMessage, String> {
        let record = self.seen.get(&of).ok_or(format!("append refers to {of}, which is not there"))?;
        let entry = Entry::parse(record).map_err(words)?;
        match &*entry.name {
            TaskStart::NAME => self.read::<TaskStart>(&entry).map(|p| ChatMessage::user(p.task)),
            LlmReplied::NAME => self.read::<LlmReplied>(&entry).map(|p| p.message),
            ToolReturned::NAME | ToolFailed::NAME | ToolRejected::NAME => {
                self.read::<Shown>(&entry).map(|p| tool_message(p.call_id, p.shown, &p.images))
            }
            other => Err(format!("a {other} holds no chat message")),
        }
    }

    /// Reads of a payload what is wanted; blobs are fetched only when it cannot be read without.
    fn read<T: DeserializeOwned>(&self, entry: &Entry<'_>) -> Result<T, String> {
        if let Ok(payload) = serde_json::from_str(entry.payload.get()) {
            return Ok(payload);
        }
        let mut json = Vec::new();
        let envelope = entry.envelope(self.journal).map_err(words)?;
        envelope.body.write_journal(&mut json).map_err(words)?;
        serde_json::from_slice(&json).map_err(words)
    }
}

/// What a tool's end or note says to the model.
#[derive(Deserialize)]
struct Shown {
    call_id: String,
    shown: String,
    #[serde(default, with = "image::journaled")]
    images: Vec<Image>,
}

fn words(why: impl ToString) -> String {
    why.to_string()
}

/// Whether the other laws take the line for a chat: then a chat that cannot be read here is no chat that keeps law 9.
fn is_chat(record: &Record) -> bool {
    OpenEntry::parse(&record.line).is_ok_and(|entry| entry.name == LlmChat::NAME)
}

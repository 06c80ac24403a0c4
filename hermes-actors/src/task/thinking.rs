//! Thinking: what a task makes of the end of a chat.

use hermes_bus::{Envelope, Payload};
use hermes_llm::{Finish, Settings, ToolChoice};

use super::{Answer, Chat, Effects, LAST_WORD, Mode, Phase, Task, Verdict, millis};
use crate::definition::{AtLimit, Definition};
use crate::protocol::{End, Failure, LlmFailed, LlmReplied, call_id};

/// How often an empty reply, or a chat that was lost, is asked for again.
const RESAMPLES: u32 = 1;

/// Sampling, where the mode makes it differ from the definition.
pub(super) fn settings(mode: Mode, definition: &Definition) -> Option<Settings> {
    match mode {
        Mode::LastWord if !definition.tools.is_empty() => {
            Some(Settings { tool_choice: Some(ToolChoice::None), ..definition.settings.clone() })
        }
        Mode::LastWord | Mode::Tools => None,
    }
}

impl Task {
    /// The chat has its end.
    pub(super) fn chat_ended(&mut self, envelope: &Envelope, chat: &Chat, effects: &mut Effects) {
        let took = u64::try_from(millis(envelope.timestamp) - chat.since_ms).unwrap_or_default();
        let reply = if envelope.body.is::<LlmReplied>() { Some(envelope.get::<LlmReplied>()) } else { None };
        let usage = match &reply {
            Some(Ok(reply)) => reply.usage,
            _ => hermes_llm::Usage::default(),
        };
        self.state.stats.model_call(usage, took);
        if self.state.ending.is_some() {
            return self.finish_ending(envelope, effects);
        }
        match reply {
            Some(Ok(reply)) if chat.mode == Mode::LastWord => self.last_word(envelope, &reply, effects),
            Some(Ok(reply)) => self.consider(envelope, chat, &reply, effects),
            Some(Err(why)) => self.give_up(envelope, chat, failure("bad_reply", why.to_string()), effects),
            None => self.chat_failed(envelope, chat, effects),
        }
    }

    fn consider(&mut self, envelope: &Envelope, chat: &Chat, reply: &LlmReplied, effects: &mut Effects) {
        let text = reply.message.text().map(|t| t.into_owned()).filter(|t| !t.trim().is_empty());
        let refusal = reply.message.extra.get("refusal").and_then(|r| r.as_str()).filter(|r| !r.is_empty());
        if reply.finish == Finish::ContentFilter || (refusal.is_some() && text.is_none()) {
            let message = refusal.unwrap_or("the provider's filter stopped the answer").to_owned();
            let verdict = Verdict { end: End::Refused, failure: Some(failure("refused", message)) };
            return self.finish(envelope, verdict, Answer { text, truncated: false }, effects);
        }
        let calls = &reply.message.tool_calls;
        if let Some(foreign) =
            calls.iter().enumerate().find(|(i, call)| call.id != call_id(self.state.chats, *i))
        {
            let why =
                format!("the call id `{}` is not one of ours: the llm actor must give them", foreign.1.id);
            return self.fail(envelope, failure("bad_reply", why), effects);
        }
        if !calls.is_empty() {
            return self.take_calls(envelope, reply, effects);
        }
        match text {
            Some(text) => {
                self.state.context.push_of(envelope.id, &reply.message);
                let answer = Answer { text: Some(text), truncated: reply.finish == Finish::Length };
                self.finish(envelope, Verdict { end: End::Completed, failure: None }, answer, effects);
            }
            None => self.again(
                envelope,
                chat,
                failure("empty_reply", "the model said nothing, twice".to_owned()),
                effects,
            ),
        }
    }

    /// The answer at the limit. Whatever the model does now, the outcome is that of the limit.
    fn last_word(&mut self, envelope: &Envelope, reply: &LlmReplied, effects: &mut Effects) {
        let text = reply.message.text().map(|t| t.into_owned()).filter(|t| !t.trim().is_empty());
        if let Some(text) = &text {
            // Without the calls that it may have asked for all the same: they get no results.
            self.state.context.push(hermes_llm::ChatMessage::assistant(text.as_str()));
        }
        let answer = Answer { truncated: text.is_some() && reply.finish == Finish::Length, text };
        self.finish(envelope, Verdict { end: End::MaxIterations, failure: None }, answer, effects);
    }

    fn chat_failed(&mut self, envelope: &Envelope, chat: &Chat, effects: &mut Effects) {
        let failed = match envelope.body.name() {
            LlmFailed::NAME => envelope.get::<LlmFailed>().map(|f| (*f).clone()).map_err(|e| e.to_string()),
            // The bus has ended it: its actor died, say. Nobody has seen an answer, so it may be asked again.
            _ => {
                let why = failure("interrupted", format!("the model call was lost: {:?}", envelope.body));
                return self.again(envelope, chat, why, effects);
            }
        };
        let failed = match failed {
            Ok(LlmFailed { kind, message, endpoint, .. }) => Failure { kind, message, endpoint },
            Err(why) => failure("bad_reply", why),
        };
        self.give_up(envelope, chat, failed, effects);
    }

    /// Asks once more for the same turn, then fails.
    fn again(&mut self, envelope: &Envelope, chat: &Chat, why: Failure, effects: &mut Effects) {
        if self.state.resampled >= RESAMPLES {
            return self.give_up(envelope, chat, why, effects);
        }
        self.state.resampled += 1;
        self.chat(envelope, chat.mode, Some(chat.id), effects);
    }

    /// The chat gave nothing. That fails the task, unless it had come to its limit already.
    fn give_up(&mut self, envelope: &Envelope, chat: &Chat, why: Failure, effects: &mut Effects) {
        if chat.mode == Mode::Tools {
            return self.fail(envelope, why, effects);
        }
        let verdict = Verdict { end: End::MaxIterations, failure: Some(why) };
        self.finish(envelope, verdict, Answer::default(), effects);
    }

    pub(super) fn fail(&mut self, envelope: &Envelope, failure: Failure, effects: &mut Effects) {
        let end = if failure.kind == "context_exceeded" { End::ContextExceeded } else { End::Failed };
        self.finish(envelope, Verdict { end, failure: Some(failure) }, Answer::default(), effects);
    }

    /// All calls of the turn have their ends: on to the next turn, or to the limit.
    pub(super) fn next_turn(&mut self, cause: &Envelope, effects: &mut Effects) {
        let limit = self.state.start.as_ref().map_or(0, |start| start.limits.max_iterations);
        self.state.resampled = 0;
        if self.state.stats.iterations < limit {
            return self.think(cause, Mode::Tools, effects);
        }
        match self.definition.at_limit {
            AtLimit::Answer => {
                self.state.context.push(hermes_llm::ChatMessage::user(LAST_WORD));
                self.think(cause, Mode::LastWord, effects);
            }
            AtLimit::Stop => {
                let verdict = Verdict { end: End::MaxIterations, failure: None };
                self.finish(cause, verdict, Answer::default(), effects);
            }
        }
    }

    /// The chat under way, if `ask` is it.
    pub(super) fn current_chat(&self, ask: hermes_bus::Id) -> Option<Chat> {
        match &self.state.phase {
            Phase::Thinking(chat) if chat.id == ask => Some(chat.clone()),
            _ => None,
        }
    }
}

fn failure(kind: &str, message: String) -> Failure {
    Failure { kind: kind.to_owned(), message, endpoint: false }
}

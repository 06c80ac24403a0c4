//! The tool calls of a reply, gathered from their parts.

use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::completion::{CallPart, Unknown};
use super::extra::{join, merge};
use crate::{Delta, Deltas, ToolCall};

/// The calls so far, in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: Vec<ToolCall>,
    /// The index under which the server tells parts of each, where it says one.
    indexes: Vec<Option<i64>>,
}

impl Calls {
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    pub(super) fn finish(self) -> Vec<ToolCall> {
        self.calls
    }

    /// Adds a call that came whole.
    pub(super) fn push(&mut self, call: CallPart<'_>) {
        let place = self.begin(None);
        self.extend(place, call, &Deltas::none());
    }

    /// Adds a part of a call, to a new one or to one that has begun, and tells what it brings.
    pub(super) fn add(&mut self, part: CallPart<'_>, deltas: &Deltas) {
        let place = self.place(&part).unwrap_or_else(|| self.begin(part.index.as_number()));
        self.extend(place, part, deltas);
    }

    /// The call that this part continues. Servers leave out index or id, or say the same index for each call.
    fn place(&self, part: &CallPart<'_>) -> Option<usize> {
        let place = match part.index.as_number() {
            Some(index) => self.indexes.iter().rposition(|known| *known == Some(index))?,
            None => match part.id.as_text() {
                Some(id) => self.calls.iter().rposition(|call| call.id.is_empty() || call.id == id)?,
                None => self.calls.len().checked_sub(1)?,
            },
        };
        continues(&self.calls[place], part).then_some(place)
    }

    fn begin(&mut self, index: Option<i64>) -> usize {
        self.calls.push(ToolCall::new("", "", ""));
        self.indexes.push(index);
        self.calls.len() - 1
    }

    fn extend(&mut self, place: usize, part: CallPart<'_>, deltas: &Deltas) {
        let call = &mut self.calls[place];
        if call.id.is_empty() {
            call.id = part.id.into_text().into_owned();
        }
        let name = part.function.name.into_text();
        let name = rest_of_name(&call.name, &name).to_owned();
        call.name.push_str(&name);
        let arguments = part.function.arguments.into_text();
        call.arguments.push_str(&arguments);
        merge(&mut call.extra, part.unknown);
        keep_in_function(&mut call.extra, part.function.unknown);
        if deltas.are_wanted() && !(name.is_empty() && arguments.is_empty()) {
            deltas.tell(Delta::ToolCall { index: place, name, arguments: arguments.into_owned() });
        }
    }
}

/// Whether a part goes on with this call. Another id is another call; so, where one of them has no id, is a part that
/// names a tool after arguments that are complete.
fn continues(call: &ToolCall, part: &CallPart<'_>) -> bool {
    match part.id.as_text() {
        Some(id) if !call.id.is_empty() => call.id == id,
        _ => part.function.name.as_text().is_none() || !is_complete(&call.arguments),
    }
}

fn is_complete(arguments: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(arguments).is_ok()
}

/// What is new in a name: it comes whole, in pieces, or again with each part.
fn rest_of_name<'a>(known: &str, came: &'a str) -> &'a str {
    came.strip_prefix(known).unwrap_or(came)
}

/// Unknown keys inside `function` are kept under that name; see [`ToolCall::extra`].
fn keep_in_function(extra: &mut Map<String, Value>, unknown: Unknown<'_>) {
    if unknown.is_empty() {
        return;
    }
    let mut inside = Map::new();
    merge(&mut inside, unknown);
    match extra.get_mut("function") {
        Some(known) => join(known, Value::Object(inside)),
        None => drop(extra.insert("function".into(), Value::Object(inside))),
    }
}

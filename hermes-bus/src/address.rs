//! Addresses: the names under which actors are reached.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The name of an actor: segments `[A-Za-z0-9_.-]+(#[0-9]+)?` joined by `/`, or `topic:…`.
///
/// ```
/// use hermes_bus::Address;
/// let me = Address::new("researcher#2/orchestrator").unwrap();
/// assert_eq!(me.scope(), "researcher#2");
/// assert_eq!(me.sibling("llm").as_str(), "researcher#2/llm");
/// assert_eq!(me.unnumbered(), "researcher/orchestrator");
/// assert!(Address::new("weather bot").is_err());
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address(Arc<str>);

/// A text that is no lawful address.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{0}` is no address: use segments of letters, digits, `_`, `.` and `-` joined by `/`")]
pub struct AddressError(String);

static USER: LazyLock<Address> = LazyLock::new(|| Address(Arc::from("user")));
static FINAL: LazyLock<Address> = LazyLock::new(|| Address(Arc::from("final")));
static CLOCK: LazyLock<Address> = LazyLock::new(|| Address(Arc::from("clock")));

impl Address {
    /// Checks `text` and makes it an address.
    ///
    /// # Errors
    /// When a segment is empty or holds a character that is not allowed.
    pub fn new(text: &str) -> Result<Self, AddressError> {
        let lawful = match text.strip_prefix("topic:") {
            Some(topic) => !topic.is_empty() && !topic.contains(char::is_whitespace),
            None => text.split('/').all(is_segment),
        };
        if lawful { Ok(Self(Arc::from(text))) } else { Err(AddressError(text.to_owned())) }
    }

    /// Whoever is outside: the person or program that gave the task.
    pub fn user() -> Self {
        USER.clone()
    }

    /// Where the outcome of a task from outside is written to.
    pub fn finally() -> Self {
        FINAL.clone()
    }

    /// The sender of `timer.fired`.
    pub fn clock() -> Self {
        CLOCK.clone()
    }

    /// Whether this is one of the names that no actor can have.
    pub fn is_reserved(&self) -> bool {
        matches!(self.as_str(), "user" | "final" | "clock") || self.is_topic()
    }

    /// Whether this names a topic (to publish to), not an actor.
    pub fn is_topic(&self) -> bool {
        self.0.starts_with("topic:")
    }

    /// The address as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// All segments but the last, `""` at the root.
    pub fn scope(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(scope, _)| scope)
    }

    /// The last segment.
    pub fn name(&self) -> &str {
        self.0.rsplit_once('/').map_or(&self.0, |(_, name)| name)
    }

    /// The address `name` in the scope of this one. `name` must be a lawful segment.
    pub fn sibling(&self, name: &str) -> Self {
        Self::in_scope(self.scope(), name)
    }

    /// The address `name` in `scope` (`""`: at the root). Both must be lawful already.
    pub fn in_scope(scope: &str, name: &str) -> Self {
        debug_assert!(is_segment(name), "`{name}` is no segment");
        if scope.is_empty() { Self(Arc::from(name)) } else { Self(Arc::from(format!("{scope}/{name}"))) }
    }

    /// The address without its numbers, under which a definition is registered. The scopes of steps that run at
    /// once (`step`, `step#2`, …) are skipped.
    pub fn unnumbered(&self) -> Cow<'_, str> {
        let text = &*self.0;
        if !text.contains('#') && !text.starts_with("step/") {
            return Cow::Borrowed(text);
        }
        let plain: Vec<&str> = text
            .split('/')
            .map(|s| s.split_once('#').map_or(s, |(name, _)| name))
            .skip_while(|s| *s == "step")
            .collect();
        Cow::Owned(plain.join("/"))
    }
}

/// Whether `text` can be one segment of an address.
fn is_segment(text: &str) -> bool {
    let (name, number) = text.split_once('#').map_or((text, None), |(name, number)| (name, Some(number)));
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    let numbered = number.is_none_or(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    !name.is_empty() && name.chars().all(plain) && numbered
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::str::FromStr for Address {
    type Err = AddressError;
    fn from_str(text: &str) -> Result<Self, AddressError> {
        Self::new(text)
    }
}

impl Serialize for Address {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Address {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        Self::new(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lawful_and_unlawful_addresses() {
        for good in
            ["orchestrator", "tool.get_weather", "researcher#2/tool.a-b", "topic:stock.changed", "a/b/c"]
        {
            assert_eq!(Address::new(good).map(|a| a.to_string()), Ok(good.to_owned()));
        }
        for bad in ["", "/", "a/", "a b", "天气", "a#", "a#x", "#2", "topic:", "topic:a b", "a//b"] {
            assert!(Address::new(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn the_look_up_skips_numbers_and_steps() {
        let plain = |text: &str| Address::new(text).unwrap().unnumbered().into_owned();
        assert_eq!(plain("researcher#2/helper#3/llm"), "researcher/helper/llm");
        assert_eq!(plain("step/llm"), "llm");
        assert_eq!(plain("step#2/researcher/llm"), "researcher/llm");
        assert_eq!(plain("llm"), "llm");
    }
}

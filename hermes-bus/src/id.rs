//! Ids of envelopes and traces: 128 bits, written as 32 lower-case hex digits.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

use crate::Address;

/// A text that is not 32 hex digits.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{0}` is no id: an id has 32 lower-case hex digits")]
pub struct IdError(String);

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Uuid);

        impl $name {
            /// Appends its 32 digits.
            pub(crate) fn write(self, out: &mut Vec<u8>) {
                out.extend_from_slice(self.0.as_simple().encode_lower(&mut Uuid::encode_buffer()).as_bytes());
            }

            /// An id that nobody has had before (random, UUID v4).
            pub fn fresh() -> Self {
                Self(Uuid::new_v4())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.0.as_simple().encode_lower(&mut Uuid::encode_buffer()))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                let lower_hex = text.len() == 32 && !text.bytes().any(|b| b.is_ascii_uppercase());
                let uuid = if lower_hex { Uuid::try_parse(text).ok() } else { None };
                uuid.map(Self).ok_or_else(|| IdError(text.to_owned()))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.0.as_simple().encode_lower(&mut Uuid::encode_buffer()))
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

id! {
    /// Names one envelope.
    ///
    /// ```
    /// use hermes_bus::{Address, Id};
    /// let task = Id::fresh();
    /// let me = Address::new("orchestrator").unwrap();
    /// // Whoever knows what is sent knows its id before it is sent.
    /// assert_eq!(Id::named(task, &me, "tool.call", "t1.0"), Id::named(task, &me, "tool.call", "t1.0"));
    /// assert_eq!(task.to_string().len(), 32);
    /// ```
    Id
}
id! {
    /// Names a trace: everything that descends from one envelope from outside.
    TraceId
}

impl Id {
    /// The id of what a machine sends: a hash (UUID v5) of the task, the sender, the payload's name and a key
    /// that tells apart what one sender sends under one name. Fixed with the journal's `v`.
    pub fn named(task: Id, sender: &Address, name: &str, key: &str) -> Self {
        let mut text = String::with_capacity(sender.as_str().len() + name.len() + key.len() + 2);
        for part in [sender.as_str(), "\n", name, "\n", key] {
            text.push_str(part);
        }
        Self(Uuid::new_v5(&task.0, text.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_32_lower_case_hex_digits_are_an_id() {
        let id = Id::fresh();
        assert_eq!(id.to_string().parse(), Ok(id));
        for bad in ["", "e1", "5C1E0000000000000000000000000001", "5c1e0000-0000-0000-0000-000000000001"] {
            assert!(bad.parse::<Id>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_named_id_is_fixed_with_the_format() {
        let task: Id = "00000000000000000000000000000001".parse().unwrap();
        let me = Address::new("orchestrator").unwrap();
        assert_eq!(Id::named(task, &me, "llm.chat", "1").to_string(), "aff8165070ed552bb4d6a2640f544318");
        assert_ne!(Id::named(task, &me, "llm.chat", "1"), Id::named(task, &me, "llm.chat", "2"));
    }
}

//! The digest of a context: a hash chain over its messages, which names it without repeating it.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

/// The first 128 bits of a SHA-256 chain: `d(0)` is of nothing, `d(n) = SHA-256(d(n-1) ‖ message n)`, the messages
/// in their canonical rendering, the system message first. Written as 32 lower-case hex digits.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Digest([u8; 16]);

impl Digest {
    /// The digest of the context with one message more.
    #[must_use]
    pub fn with(self, message: &[u8]) -> Self {
        let hash = Sha256::new().chain_update(self.0).chain_update(message).finalize();
        let mut short = [0; 16];
        short.copy_from_slice(&hash[..16]);
        Self(short)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl JsonSchema for Digest {
    fn schema_name() -> Cow<'static, str> {
        "Digest".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^[0-9a-f]{32}$",
            "description": "A hash chain over the messages of a context.",
        })
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // By hand: it stands in every chat.
        let digit = |nibble: u8| if nibble < 10 { b'0' + nibble } else { b'a' - 10 + nibble };
        let mut hex = [0; 32];
        for (pair, byte) in hex.chunks_exact_mut(2).zip(self.0) {
            (pair[0], pair[1]) = (digit(byte >> 4), digit(byte & 15));
        }
        serializer.serialize_str(std::str::from_utf8(&hex).map_err(serde::ser::Error::custom)?)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        let number = if text.len() == 32 { u128::from_str_radix(&text, 16).ok() } else { None };
        let number = number.ok_or_else(|| serde::de::Error::custom("a digest has 32 hex digits"))?;
        Ok(Self(number.to_be_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chain_is_fixed_with_the_format() {
        let one = Digest::default().with(b"a");
        assert_eq!(one.to_string(), "9c6bd5cc05acbe7cb4ab71165168ff3d");
        assert_ne!(one.with(b"b"), Digest::default().with(b"ab"));
        assert_eq!(serde_json::to_string(&one).unwrap(), format!("\"{one}\""));
        assert_eq!(serde_json::from_str::<Digest>(&serde_json::to_string(&one).unwrap()).unwrap(), one);
    }
}

//! Blobs: large strings kept beside the journal under the hash of their content.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

pub(crate) use text::{externalise, inline};

mod scan;
mod text;

/// Strings with more bytes of UTF-8 than this are kept as blobs, and stand in their line as a reference.
pub const BLOB_THRESHOLD: usize = 32 * 1024;

/// The SHA-256 of a blob, written as 64 lower-case hex digits.
///
/// ```
/// use hermes_bus::journal::BlobHash;
/// let hash = BlobHash::of(b"hello");
/// assert_eq!(hash.to_string(), "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
/// assert_eq!(hash.to_string().parse(), Ok(hash));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlobHash([u8; 32]);

/// A text that is not 64 lower-case hex digits.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{0}` is no blob's hash: a hash has 64 lower-case hex digits")]
pub struct BlobHashError(String);

impl BlobHash {
    /// The hash of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

impl fmt::Display for BlobHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for BlobHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for BlobHash {
    type Err = BlobHashError;

    fn from_str(text: &str) -> Result<Self, BlobHashError> {
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'a'..=b'f' => Some(byte - b'a' + 10),
            _ => None,
        };
        let mut hash = [0; 32];
        let mut good = text.len() == 64;
        for (byte, pair) in hash.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            match (digit(pair[0]), digit(pair[1])) {
                (Some(high), Some(low)) => *byte = high << 4 | low,
                _ => good = false,
            }
        }
        if good { Ok(Self(hash)) } else { Err(BlobHashError(text.to_owned())) }
    }
}

impl Serialize for BlobHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for BlobHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_64_lower_case_hex_digits_are_a_hash() {
        let hash = BlobHash::of(b"");
        let text = hash.to_string();
        assert_eq!(text, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(text.parse(), Ok(hash));
        assert_eq!(serde_json::from_str::<BlobHash>(&format!("\"{text}\"")).unwrap(), hash);
        for bad in ["", &text[1..], &text.to_uppercase(), &text.replace('e', "é"), "../../etc/passwd"] {
            assert!(bad.parse::<BlobHash>().is_err(), "{bad:?}");
        }
    }
}

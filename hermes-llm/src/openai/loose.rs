//! Reading JSON that servers write in many ways, without building trees for what they usually write.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// A value that is nearly always a string, borrowed from the JSON where it holds no escapes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Loose<'a> {
    /// Null, or not there.
    #[default]
    Null,
    Text(Cow<'a, str>),
    Other(Value),
}

impl<'a> Loose<'a> {
    /// A string that says something.
    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Loose::Text(text) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    /// Null, or a string that says nothing.
    pub(super) fn is_nothing(&self) -> bool {
        *self == Loose::Null || matches!(self, Loose::Text(text) if text.is_empty())
    }

    /// A string as it is, null as nothing, all else as its JSON.
    pub(super) fn into_text(self) -> Cow<'a, str> {
        match self {
            Loose::Null => Cow::Borrowed(""),
            Loose::Text(text) => text,
            Loose::Other(value) => Cow::Owned(value.to_string()),
        }
    }

    /// A whole number, also one written as a string.
    pub(super) fn as_number(&self) -> Option<i64> {
        match self {
            Loose::Null => None,
            Loose::Text(text) => text.parse().ok(),
            Loose::Other(value) => value.as_i64(),
        }
    }
}

impl From<Loose<'_>> for Value {
    fn from(loose: Loose<'_>) -> Value {
        match loose {
            Loose::Null => Value::Null,
            Loose::Text(text) => Value::String(text.into_owned()),
            Loose::Other(value) => value,
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Loose<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Loose<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Loose<'de>, E> {
        Ok(Loose::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Loose<'de>, E> {
        Ok(Loose::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Loose<'de>, E> {
        Ok(Loose::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Loose<'de>, E> {
        Ok(Loose::Other(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Loose<'de>, E> {
        Ok(Loose::Other(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Loose<'de>, E> {
        Ok(Loose::Other(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Loose<'de>, E> {
        Ok(Loose::Other(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Loose<'de>, A::Error> {
        Value::deserialize(SeqAccessDeserializer::new(items)).map(Loose::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Loose<'de>, A::Error> {
        Value::deserialize(MapAccessDeserializer::new(entries)).map(Loose::Other)
    }
}

/// What is read from a JSON object key by key; of a key that comes twice the last value holds, and null is an empty
/// object.
pub(super) trait Fields<'de>: Default {
    /// Reads the value of this key from `map`.
    fn field<A: MapAccess<'de>>(&mut self, key: Cow<'de, str>, map: &mut A) -> Result<(), A::Error>;
}

/// Reads an object; to be called from `Deserialize`.
pub(super) fn read_fields<'de, T: Fields<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_any(FieldByField(PhantomData))
}

struct FieldByField<T>(PhantomData<T>);

impl<'de, T: Fields<'de>> Visitor<'de> for FieldByField<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_unit<E: Error>(self) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let mut read = T::default();
        while let Some(key) = map.next_key::<Loose<'de>>()? {
            read.field(key.into_text(), &mut map)?;
        }
        Ok(read)
    }
}

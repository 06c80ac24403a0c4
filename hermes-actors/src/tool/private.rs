//! What the code that `#[tool]` writes leans on. No promise: only the macro of the same version may use it.

use super::ToolError;
use super::arguments::arguments_with;
use schemars::JsonSchema;
use serde::de::{Deserialize, DeserializeOwned, Deserializer};
use std::error::Error;
use std::fmt::Display;

pub use async_trait::async_trait;
pub use schemars;
pub use serde;

/// The arguments as the model sent them.
pub type Arguments = serde_json::Map<String, serde_json::Value>;

/// The arguments as a value of `T`.
///
/// # Errors
/// When they do not fit: in words for the model, with what the schema allows at that place.
pub fn read<T: DeserializeOwned + JsonSchema>(arguments: Arguments) -> Result<T, ToolError> {
    arguments_with(arguments, super::schema_for::<T>)
}

/// Reads an argument that has a default: `null` is how models say that they leave it out.
///
/// # Errors
/// As `T`.
pub fn or_default<'de, D, T>(deserializer: D, default: fn() -> T) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_else(default))
}

/// What a tool's function returned. Its method `split` is the inherent one for a `Result`, also under an alias, and
/// the one of [`PlainValue`] for anything else: an inherent method always comes first.
pub struct Returned<T>(pub T);

impl<T, E> Returned<Result<T, E>> {
    /// Splits value and error.
    pub fn split(self) -> Result<T, Failure<E>> {
        self.0.map_err(Failure)
    }
}

/// A returned value that is no `Result`.
pub trait PlainValue {
    /// The type returned.
    type Value;

    /// The value, which is never an error.
    fn split(self) -> Result<Self::Value, Failure<ToolError>>;
}

impl<T> PlainValue for Returned<T> {
    type Value = T;

    fn split(self) -> Result<T, Failure<ToolError>> {
        Ok(self.0)
    }
}

/// An error that a tool's function returned. Which `for_model` it has depends on the error's type: a `ToolError`
/// stays itself, an `Error` keeps its causes, anything else is only displayed (the compiler tries a method on the
/// value before one on a reference to it).
pub struct Failure<E>(pub E);

impl Failure<ToolError> {
    /// The error itself.
    pub fn for_model(self) -> ToolError {
        self.0
    }
}

/// An error of the standard kind.
pub trait StandardError {
    /// The error with its causes.
    fn for_model(self) -> ToolError;
}

impl<E: Error + Send + Sync + 'static> StandardError for Failure<E> {
    fn for_model(self) -> ToolError {
        self.0.into()
    }
}

/// An error that can only be displayed. The bound stands on the method, so that the compiler says of a type
/// without it which bound is missing.
pub trait DisplayedError {
    /// The error's type.
    type Error;

    /// The error's text, in the long form (`{:#}`), with which `anyhow::Error` names its causes.
    fn for_model(self) -> ToolError
    where
        Self::Error: Display;
}

impl<E> DisplayedError for &Failure<E> {
    type Error = E;

    fn for_model(self) -> ToolError
    where
        E: Display,
    {
        ToolError::new(format!("{:#}", self.0))
    }
}

//! What the code that `#[tool]` writes leans on. No promise: only the macro of the same version may use it.

use super::ToolError;
use schemars::JsonSchema;
use serde::de::{Deserialize, DeserializeOwned, Deserializer};
use std::error::Error;
use std::fmt::Display;

pub use async_trait::async_trait;
pub use schemars;
pub use serde;

/// The arguments as the model sent them.
pub type Arguments = serde_json::Map<String, serde_json::Value>;

/// A type that a model can give: the compiler says of one that will not do what to derive, and not only which hidden path is
/// missing.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a tool",
    label = "a model cannot give this",
    note = "if the model gives it, derive `serde::Deserialize` and `schemars::JsonSchema` for it (schemars = \"1\")",
    note = "if the program gives it, take a `State<{Self}>`, and set it with `.state(…)`"
)]
pub trait Argument {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema> Argument for T {}

/// Checks a type, and does nothing.
pub fn is_argument<T: Argument>() {}

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

/// What an error says of itself, in the long form (`{:#}`), with which `anyhow::Error` names its causes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a tool",
    note = "implement `Display` for it (thiserror derives it), or return a `ToolError`"
)]
pub trait ErrorForModel {
    /// The words.
    fn words(&self) -> String;
}

#[diagnostic::do_not_recommend]
impl<E: Display> ErrorForModel for E {
    fn words(&self) -> String {
        format!("{self:#}")
    }
}

/// An error that can only be displayed. The bound stands on the method, so that the compiler says of a type
/// without it which bound is missing.
pub trait DisplayedError {
    /// The error's type.
    type Error;

    /// The error's words.
    fn for_model(self) -> ToolError
    where
        Self::Error: ErrorForModel;
}

impl<E> DisplayedError for &Failure<E> {
    type Error = E;

    fn for_model(self) -> ToolError
    where
        E: ErrorForModel,
    {
        ToolError::new(self.0.words())
    }
}

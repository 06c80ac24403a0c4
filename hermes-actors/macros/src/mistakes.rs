//! Mistakes: all that is wrong with one tool, so that the compiler says it at once.

use quote::ToTokens;
use syn::{Error, Result};

/// All the mistakes found so far.
#[derive(Default)]
pub struct Mistakes(Option<Error>);

impl Mistakes {
    pub fn add(&mut self, place: impl ToTokens, message: &str) {
        self.push(Error::new_spanned(place, message));
    }

    pub fn push(&mut self, error: Error) {
        match &mut self.0 {
            Some(first) => first.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// Whether there were any.
    ///
    /// # Errors
    /// All of them.
    pub fn check(self) -> Result<()> {
        self.0.map_or(Ok(()), Err)
    }
}

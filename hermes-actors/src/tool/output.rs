//! The output of a call, and how an outcome reads to the model.

use super::{Image, ToolError, clip};
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;

/// How many characters of an outcome the model is shown, prefix and notice included.
pub const SHOWN_CHARACTERS: usize = 2_000;

/// What a call returned.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolOutput {
    /// The result as data: journaled whole, and what other programs read.
    pub result: Value,
    /// Images, which the model sees after the text.
    pub images: Vec<Image>,
    /// What the model reads instead of the result.
    pub summary: Option<String>,
}

impl ToolOutput {
    /// A result that is any serialisable value.
    ///
    /// # Errors
    /// When the value has no JSON form, such as a map whose keys are not text.
    pub fn json(value: &(impl Serialize + ?Sized)) -> Result<Self, ToolError> {
        match serde_json::to_value(value) {
            Ok(result) => Ok(Self { result, ..Self::default() }),
            Err(error) => {
                let words = format!("the tool's result has no JSON form: {error}");
                Err(ToolError::new(words).caused_by(error).permanent())
            }
        }
    }

    /// A result that is plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { result: Value::String(text.into()), ..Self::default() }
    }

    /// With one more image. One without any result besides is shown as the number of its images.
    #[must_use]
    pub fn with_image(mut self, image: Image) -> Self {
        self.images.push(image);
        self
    }

    /// With a text that the model reads instead of the result; the journal keeps the whole result.
    #[must_use]
    pub fn with_summary(self, summary: impl Into<String>) -> Self {
        Self { summary: Some(summary.into()), ..self }
    }

    /// The whole result as text for the model, without prefix and without limit.
    ///
    /// A string stands as it is, any other value as compact JSON, with every character as itself and not as `\u`
    /// escapes. What is empty says that empty is a normal result: models take silence for a failure and try again.
    pub fn shown(&self) -> String {
        self.as_text().into_owned()
    }

    fn as_text(&self) -> Cow<'_, str> {
        if let Some(summary) = &self.summary {
            return summary.as_str().into();
        }
        match &self.result {
            Value::Null if !self.images.is_empty() => match self.images.len() {
                1 => "1 image".into(),
                many => format!("{many} images").into(),
            },
            Value::String(text) if text.is_empty() => {
                "(The tool ran and returned an empty text. That is a normal result.)".into()
            }
            Value::String(text) => text.as_str().into(),
            Value::Null => "null (The tool ran and has nothing to return. That is a normal result.)".into(),
            Value::Array(items) if items.is_empty() => {
                "[] (The tool ran and the list is empty. That is a normal result.)".into()
            }
            Value::Object(fields) if fields.is_empty() => {
                "{} (The tool ran and the object is empty. That is a normal result.)".into()
            }
            value => value.to_string().into(),
        }
    }
}

/// What a tool's function may return: every serialisable value, a [`ToolOutput`], and an [`Image`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a tool",
    note = "derive serde's `Serialize` for it, or return a `ToolOutput` or an `Image`"
)]
pub trait IntoToolOutput {
    /// Makes it the output of a call.
    ///
    /// # Errors
    /// When the value has no JSON form, such as a map whose keys are not text.
    fn into_tool_output(self) -> Result<ToolOutput, ToolError>;
}

impl<T: Serialize> IntoToolOutput for T {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        ToolOutput::json(&self)
    }
}

impl IntoToolOutput for ToolOutput {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(self)
    }
}

impl IntoToolOutput for Image {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::default().with_image(self))
    }
}

/// How an outcome reads to the model: `OK: …` or `ERROR: …`, at most [`SHOWN_CHARACTERS`] long.
///
/// What is longer is [clipped](clip()): a notice with the full size, then the beginning and the end.
pub fn shown(outcome: &Result<ToolOutput, ToolError>) -> String {
    let (prefix, text) = match outcome {
        Ok(output) => ("OK: ", output.as_text()),
        Err(error) if error.message().trim().is_empty() => {
            ("ERROR: ", "the tool failed and did not say why".into())
        }
        Err(error) => ("ERROR: ", error.message().into()),
    };
    format!("{prefix}{}", clip(&text, SHOWN_CHARACTERS - prefix.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn ok(result: Value) -> String {
        shown(&ToolOutput::json(&result))
    }

    #[test]
    fn text_stands_as_it_is_and_data_as_compact_json() {
        assert_eq!(ok(json!("晴，22°C\n\"微风\"")), "OK: 晴，22°C\n\"微风\"");
        assert_eq!(
            ok(json!({"weather": "晴 🌞", "wind": [1, 2]})),
            r#"OK: {"weather":"晴 🌞","wind":[1,2]}"#
        );
        assert_eq!(ok(json!(false)), "OK: false");
        assert_eq!(shown(&Err(ToolError::new("没有这个城市"))), "ERROR: 没有这个城市");
    }

    #[test]
    fn what_is_empty_is_said_to_be_normal() {
        for empty in [json!(""), json!([]), json!({}), json!(null)] {
            let text = ok(empty);
            assert!(text.starts_with("OK: ") && text.contains("That is a normal result"), "{text}");
        }
        assert_eq!(shown(&Err(ToolError::new(""))), "ERROR: the tool failed and did not say why");
    }

    #[test]
    fn a_summary_stands_for_the_result_and_images_are_counted_where_there_is_nothing_else() {
        let summary = ToolOutput::text("a long report").with_summary("3 pages");
        assert_eq!(
            (shown(&Ok(summary.clone())), summary.result),
            ("OK: 3 pages".to_owned(), json!("a long report"))
        );
        let image = Image::new("image/png", b"png");
        let two = ToolOutput::default().with_image(image.clone()).with_image(image.clone());
        assert_eq!(shown(&Ok(two)), "OK: 2 images");
        assert_eq!(shown(&Ok(ToolOutput::text("see").with_image(image))), "OK: see");
    }

    #[test]
    fn an_outcome_over_the_limit_keeps_its_prefix_and_opens_with_a_notice() {
        let text = ok(json!("好".repeat(5_000)));
        assert!(text.starts_with("OK: [Shortened: 5000 characters"), "{text}");
        assert_eq!(text.chars().count(), SHOWN_CHARACTERS);
    }

    #[test]
    fn a_value_without_json_form_is_an_error_in_words() {
        let map = std::collections::HashMap::from([((1, 2), "x")]);
        let error = ToolOutput::json(&map).unwrap_err();
        assert!(error.message().starts_with("the tool's result has no JSON form"), "{error}");
    }
}

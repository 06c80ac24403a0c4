//! Images: what a tool may return for the model to see.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};

/// An image in a tool's result: its bytes, or where they are. Cheap to clone.
///
/// In the journal its bytes are base64; large ones lie beside it, as large texts do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Image {
    mime_type: String,
    source: Source,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Source {
    /// Base64, made once.
    Data(Arc<str>),
    Url(String),
}

impl Image {
    /// An image of these bytes; `mime_type` such as `image/png`.
    pub fn new(mime_type: impl Into<String>, bytes: impl AsRef<[u8]>) -> Self {
        let data = BASE64.encode(bytes.as_ref()).into();
        Self { mime_type: mime_type.into(), source: Source::Data(data) }
    }

    /// An image that the model's provider fetches itself.
    pub fn at(mime_type: impl Into<String>, url: impl Into<String>) -> Self {
        Self { mime_type: mime_type.into(), source: Source::Url(url.into()) }
    }

    /// Such as `image/png`.
    pub fn mime_type(&self) -> &str {
        &self.mime_type
    }

    /// The bytes, if it holds them.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        match &self.source {
            Source::Data(data) => BASE64.decode(&**data).ok(),
            Source::Url(_) => None,
        }
    }

    /// Where a model finds it: a `data:` URL with the bytes, or the URL that was given.
    pub fn url(&self) -> String {
        match &self.source {
            Source::Data(data) => format!("data:{};base64,{data}", self.mime_type),
            Source::Url(url) => url.clone(),
        }
    }
}

/// Images as they stand in a journal. An [`Image`] itself is not serialisable: inside another result the model would
/// read its bytes as text.
pub(crate) mod journaled {
    use super::{Arc, Deserialize, Image, Serialize, Source};
    use schemars::JsonSchema;
    use serde::{Deserializer, Serializer, de::Error};

    /// One image: its data in base64, or where it is.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[schemars(rename = "Image")]
    pub(crate) struct Form {
        mime_type: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Arc<str>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        url: Option<String>,
    }

    pub fn serialize<S: Serializer>(images: &[Image], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(images.iter().cloned().map(|Image { mime_type, source }| match source {
            Source::Data(data) => Form { mime_type, data: Some(data), url: None },
            Source::Url(url) => Form { mime_type, data: None, url: Some(url) },
        }))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Image>, D::Error> {
        let image = |form: Form| match (form.data, form.url) {
            (Some(data), None) => Ok(Image { mime_type: form.mime_type, source: Source::Data(data) }),
            (None, Some(url)) => Ok(Image { mime_type: form.mime_type, source: Source::Url(url) }),
            _ => Err(D::Error::custom("an image has either `data` or `url`")),
        };
        Vec::<Form>::deserialize(deserializer)?.into_iter().map(image).collect()
    }
}

//! What a model is shown of the tools it may call.

use std::fmt;
use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::render::render;

/// What the model is shown of one tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// The name the model calls it by.
    pub name: String,
    /// What it does and when to use it, for the model.
    pub description: String,
    /// JSON Schema of the arguments object.
    pub parameters: Value,
}

/// A tool in the OpenAI shape.
#[derive(Serialize)]
struct OpenAiTool<'a> {
    r#type: &'static str,
    function: &'a ToolSpec,
}

/// The tools of a request, rendered once and shared: cloning is cheap.
///
/// ```
/// use hermes_llm::{ToolSpec, ToolSpecs};
/// use serde_json::json;
///
/// let tools = ToolSpecs::from(vec![ToolSpec {
///     name: "now".into(),
///     description: "The time.".into(),
///     parameters: json!({"type": "object"}),
/// }]);
/// assert_eq!(
///     tools.json(),
///     r#"[{"type":"function","function":{"name":"now","description":"The time.","parameters":{"type":"object"}}}]"#
/// );
/// assert!(ToolSpecs::default().is_empty());
/// ```
#[derive(Clone)]
pub struct ToolSpecs(Arc<Rendered>);

struct Rendered {
    specs: Vec<ToolSpec>,
    json: Bytes,
}

impl ToolSpecs {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.specs.is_empty()
    }

    /// How many tools.
    pub fn len(&self) -> usize {
        self.0.specs.len()
    }

    /// The specs in the order given.
    pub fn iter(&self) -> std::slice::Iter<'_, ToolSpec> {
        self.0.specs.iter()
    }

    /// The `tools` array of an OpenAI request, in the order given; `[]` when there are none.
    pub fn json(&self) -> &Bytes {
        &self.0.json
    }
}

impl From<Vec<ToolSpec>> for ToolSpecs {
    fn from(specs: Vec<ToolSpec>) -> Self {
        let shown: Vec<_> =
            specs.iter().map(|function| OpenAiTool { r#type: "function", function }).collect();
        let json = render(&shown);
        ToolSpecs(Arc::new(Rendered { specs, json }))
    }
}

impl FromIterator<ToolSpec> for ToolSpecs {
    fn from_iter<I: IntoIterator<Item = ToolSpec>>(specs: I) -> Self {
        Self::from(specs.into_iter().collect::<Vec<_>>())
    }
}

impl Default for ToolSpecs {
    fn default() -> Self {
        static NONE: LazyLock<ToolSpecs> = LazyLock::new(|| ToolSpecs::from(Vec::new()));
        NONE.clone()
    }
}

impl<'a> IntoIterator for &'a ToolSpecs {
    type Item = &'a ToolSpec;
    type IntoIter = std::slice::Iter<'a, ToolSpec>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl PartialEq for ToolSpecs {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.json() == other.json()
    }
}

impl fmt::Debug for ToolSpecs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

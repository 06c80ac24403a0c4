//! YAML as it was written: values, each with its place.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::{Location, Spanned};

use super::slip;

/// Where something stands, counted from 1; 0 when nobody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub line: u64,
    pub column: u64,
}

/// What cannot be used in a text, and where.
#[derive(Debug, PartialEq, Eq)]
pub struct Wrong {
    pub place: Place,
    pub words: String,
}

/// A value.
#[derive(Debug)]
pub struct Node {
    pub place: Place,
    pub shape: Shape,
}

/// What a value is made of.
#[derive(Debug)]
pub enum Shape {
    Scalar(Value),
    List(Vec<Node>),
    Map(Vec<(Name, Node)>),
}

/// The name of an entry in a map.
#[derive(Debug)]
pub struct Name {
    pub place: Place,
    pub text: String,
}

/// Reads a document; an empty one is an empty map.
///
/// # Errors
/// Where the text is no YAML, and why.
pub fn read(text: &str) -> Result<Node, Wrong> {
    // As YAML 1.2 has it: `no` is a word.
    let options = serde_saphyr::options! { with_snippet: false, strict_booleans: true };
    let node: Option<Node> = serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let place = error.location().map_or(Place { line: 1, column: 1 }, Place::from);
        Wrong { place, words: plain(&error, text, place) }
    })?;
    Ok(node.unwrap_or(Node { place: Place { line: 1, column: 1 }, shape: Shape::Map(Vec::new()) }))
}

/// What is wrong, without the place; the reader's own words speak to programmers, so they get a hint.
fn plain(error: &serde_saphyr::Error, text: &str, place: Place) -> String {
    match error {
        serde_saphyr::Error::DuplicateMappingKey { key: Some(key), .. } => {
            format!("`{key}` stands twice in one map: keep one of them")
        }
        serde_saphyr::Error::MultipleDocuments { .. } => {
            "a second document begins here: one is read".to_owned()
        }
        serde_saphyr::Error::NonFiniteFloat { value, .. } => format!("{value} is no number that can be used"),
        other => {
            let words = other.to_string();
            let end = words.find(" at line ").or_else(|| words.find(" (line ")).unwrap_or(words.len());
            let hint = slip::hint(text, place.line).map(|hint| format!("; {hint}")).unwrap_or_default();
            format!("{}{hint}", words[..end].trim_end())
        }
    }
}

impl Node {
    /// The same as JSON.
    pub fn json(&self) -> Value {
        match &self.shape {
            Shape::Scalar(value) => value.clone(),
            Shape::List(nodes) => nodes.iter().map(Self::json).collect(),
            Shape::Map(entries) => {
                let entries = entries.iter().map(|(name, node)| (name.text.clone(), node.json()));
                Value::Object(entries.collect::<Map<_, _>>())
            }
        }
    }
}

impl From<Location> for Place {
    fn from(location: Location) -> Self {
        Self { line: location.line(), column: location.column() }
    }
}

impl From<Spanned<Shape>> for Node {
    fn from(spanned: Spanned<Shape>) -> Self {
        Self { place: spanned.referenced.into(), shape: spanned.value }
    }
}

impl From<Spanned<String>> for Name {
    fn from(spanned: Spanned<String>) -> Self {
        Self { place: spanned.referenced.into(), text: spanned.value }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Spanned::<Shape>::deserialize(deserializer).map(Self::from)
    }
}

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyShape)
    }
}

struct AnyShape;

impl<'de> Visitor<'de> for AnyShape {
    type Value = Shape;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Shape, E> {
        Ok(Shape::Scalar(Value::Null))
    }

    fn visit_none<E>(self) -> Result<Shape, E> {
        Ok(Shape::Scalar(Value::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Shape, D::Error> {
        Shape::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Shape, E> {
        Ok(Shape::Scalar(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Shape, E> {
        Ok(Shape::Scalar(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Shape, E> {
        Ok(Shape::Scalar(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Shape, E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("a number must be finite"))?;
        Ok(Shape::Scalar(number.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Shape, E> {
        Ok(Shape::Scalar(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Shape, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Shape::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Shape, A::Error> {
        let mut map = Vec::new();
        while let Some((name, node)) = entries.next_entry::<Spanned<String>, Node>()? {
            map.push((name.into(), node));
        }
        Ok(Shape::Map(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    /// Each text and what is read from it.
    fn all(texts: &[&str]) -> String {
        let said = |text: &&str| match read(text) {
            Ok(node) => format!("{text:?} {}\n", node.json()),
            Err(Wrong { place: Place { line, column }, words }) => {
                format!("{text:?} {line}:{column}: {words}\n")
            }
        };
        texts.iter().map(said).collect()
    }

    #[test]
    fn values_are_what_yaml_says() {
        let said = all(&[
            "",
            "# only words\n",
            "\u{feff}a: 1\n",
            "a: {b: [x, 0.5, true, ~, -3]}\n北京: |\n  晴\n  🙂\n",
            "on: yes\n1: 2\nempty:\n",
            "a: &x [1]\nb: *x\n",
        ]);
        expect![[r##"
            "" {}
            "# only words\n" {}
            "\u{feff}a: 1\n" {"a":1}
            "a: {b: [x, 0.5, true, ~, -3]}\n北京: |\n  晴\n  🙂\n" {"a":{"b":["x",0.5,true,null,-3]},"北京":"晴\n🙂\n"}
            "on: yes\n1: 2\nempty:\n" {"1":2,"empty":null,"on":"yes"}
            "a: &x [1]\nb: *x\n" {"a":[1],"b":[1]}
        "##]].assert_eq(&said);
    }

    #[test]
    fn what_is_too_much_is_told_whole() {
        let too_much = format!("a: [{}]", "x,".repeat(300_000));
        let Err(wrong) = read(&too_much) else { panic!("it was read") };
        expect!["budget breached: Nodes { nodes: 250001 }"].assert_eq(&wrong.words);
    }

    #[test]
    fn what_is_no_yaml_has_a_place() {
        let said = all(&[
            "a: [1\nb: 2\n",
            "a: 1\na: 2\n",
            "a: \"x\n",
            "a:\n\t- b\n",
            "a: 1\n---\nb: 2\n",
            "a: .inf\n",
            "a: *nothing\n",
        ]);
        expect![[r#"
            "a: [1\nb: 2\n" 2:2: illegal placement of ':' indicator
            "a: 1\na: 2\n" 2:1: `a` stands twice in one map: keep one of them
            "a: \"x\n" 1:4: unclosed quote
            "a:\n\t- b\n" 2:2: tabs disallowed within this context (block indentation); line 2: indent with blanks, not tabs
            "a: 1\n---\nb: 2\n" 3:1: a second document begins here: one is read
            "a: .inf\n" 1:4: .inf is no number that can be used
            "a: *nothing\n" 1:4: alias references unknown anchor
        "#]]
        .assert_eq(&said);
    }
}

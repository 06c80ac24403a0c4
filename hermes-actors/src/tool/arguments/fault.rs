//! One fault of the arguments: where it stands, and what is wrong there.

use std::fmt;

use serde_path_to_error::Path;

/// What is wrong at one place.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// `stops[1].city`; empty for the arguments as a whole.
    pub path: String,
    pub words: String,
}

impl Fault {
    /// The fault at which serde stopped.
    pub fn of_serde(path: &Path, error: &serde_json::Error) -> Self {
        let path = match path.to_string() {
            whole if whole == "." => String::new(),
            path => path,
        };
        Self { path, words: in_words_of_json(&error.to_string()) }
    }

    /// Whether it stands where `other` does, or further in.
    pub fn stands_in(&self, other: &Self) -> bool {
        let below = self.path.strip_prefix(&other.path);
        other.path.is_empty() || below.is_some_and(|below| below.is_empty() || below.starts_with(['.', '[']))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.words),
            path => write!(f, "`{path}`: {}", self.words),
        }
    }
}

/// `invalid value: integer 900, expected u8` is for readers of Rust.
fn in_words_of_json(words: &str) -> String {
    if let Some(name) = words.strip_prefix("missing field ") {
        return format!("{name} is missing");
    }
    let unexpected = ["invalid type: ", "invalid value: ", "unknown variant "]
        .iter()
        .find_map(|prefix| words.strip_prefix(prefix)?.split_once(", expected "));
    match unexpected {
        Some((what, wanted)) => format!("{what} is not {}", kind_in_json(wanted)),
        None => words.to_owned(),
    }
}

fn kind_in_json(kind: &str) -> String {
    let within =
        |least: &dyn fmt::Display, most: &dyn fmt::Display| format!("a whole number from {least} to {most}");
    match kind {
        "u8" => within(&u8::MIN, &u8::MAX),
        "u16" => within(&u16::MIN, &u16::MAX),
        "u32" => within(&u32::MIN, &u32::MAX),
        "u64" | "usize" | "u128" => "a whole number, 0 or more".to_owned(),
        "i8" => within(&i8::MIN, &i8::MAX),
        "i16" => within(&i16::MIN, &i16::MAX),
        "i32" => within(&i32::MIN, &i32::MAX),
        "i64" | "isize" | "i128" => within(&i64::MIN, &i64::MAX),
        "f32" | "f64" => "a number".to_owned(),
        "a sequence" => "an array".to_owned(),
        "a map" => "an object".to_owned(),
        kind if kind.starts_with("struct ") => "an object".to_owned(),
        kind => kind.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_serde_says_is_told_in_words_of_json() {
        for (serde, json) in [
            ("missing field `city`", "`city` is missing"),
            (
                "invalid value: integer `-1`, expected u32",
                "integer `-1` is not a whole number from 0 to 4294967295",
            ),
            ("invalid type: string \"a, b\", expected a sequence", "string \"a, b\" is not an array"),
            ("invalid type: null, expected struct Stop", "null is not an object"),
            ("unknown variant `car`, expected `train` or `on_foot`", "`car` is not `train` or `on_foot`"),
            ("the end is before the start", "the end is before the start"),
        ] {
            assert_eq!(in_words_of_json(serde), json);
        }
    }

    #[test]
    fn a_fault_stands_in_another_by_whole_segments() {
        let at = |path: &str| Fault { path: path.to_owned(), words: String::new() };
        assert!(at("stops[1].city").stands_in(&at("stops")) && at("a").stands_in(&at("a")));
        assert!(
            at("a").stands_in(&at(""))
                && !at("stopsign").stands_in(&at("stops"))
                && !at("a").stands_in(&at("a.b"))
        );
    }
}

//! The layers of settings, of which the later one wins: defaults, file, environment, flags.

use std::fmt;
use std::path::PathBuf;

use serde_json::{Map, Value};

use super::keys::{KEYS, Key};
use super::yaml::Place;

/// Where a value was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    Default,
    File(PathBuf, Place),
    Variable(String),
    Flag(&'static str),
}

/// A value, and where it was said.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    pub key: &'static Key,
    pub value: Value,
    pub source: Source,
}

/// What one place says.
pub type Layer = Vec<Setting>;

/// The settings in force, each once and in the order of the keys.
#[derive(Debug)]
pub struct Layers(Vec<Setting>);

impl Layers {
    /// Lays the layers over the defaults, the strongest last.
    pub fn over_defaults(layers: impl IntoIterator<Item = Layer>) -> Self {
        let mut said: Layer = KEYS.iter().map(Setting::default_of).collect();
        for setting in layers.into_iter().flatten() {
            if let Some(weaker) = said.iter_mut().find(|weaker| weaker.key == setting.key) {
                *weaker = setting;
            }
        }
        Self(said)
    }

    /// All settings.
    pub fn iter(&self) -> impl Iterator<Item = &Setting> {
        self.0.iter()
    }

    /// The setting of this name.
    pub fn get(&self, name: &str) -> Option<&Setting> {
        self.iter().find(|setting| setting.key.name == name)
    }

    /// The values as a file would say them: names with dots are maps in maps.
    pub fn nested(&self) -> Value {
        let mut nested = Map::new();
        for Setting { key, value, .. } in self.iter() {
            match key.name.split_once('.') {
                None => drop(nested.insert(key.name.to_owned(), value.clone())),
                Some((map, name)) => {
                    let map = nested.entry(map).or_insert_with(|| Value::Object(Map::new()));
                    map[name] = value.clone();
                }
            }
        }
        Value::Object(nested)
    }
}

impl Setting {
    fn default_of(key: &'static Key) -> Self {
        let value = serde_json::from_str(key.default).unwrap_or_default();
        Self { key, value, source: Source::Default }
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path, place) => write!(f, "{}:{}", path.display(), place.line),
            Self::Variable(name) => f.write_str(name),
            Self::Flag(flag) => f.write_str(flag),
        }
    }
}

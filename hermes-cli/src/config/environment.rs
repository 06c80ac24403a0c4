//! The layer of the environment.

use anyhow::{Context, Result, bail};

use super::file;
use super::keys::{KEYS, Key};
use super::layers::{Layer, Setting, Source};
use crate::guess;

/// What the names of our variables begin with; those of the model begin with `LLM_`, which others use too.
const OURS: &str = "HERMES_";

/// A variable of the process; one that is empty counts as not set.
///
/// # Errors
/// When it is no text.
pub fn variable(name: &str) -> Result<Option<String>> {
    let Some(value) = std::env::var_os(name) else { return Ok(None) };
    let Ok(value) = value.into_string() else { bail!("the variable {name} is no UTF-8 text") };
    Ok(Some(value).filter(|value| !value.trim().is_empty()))
}

/// What the variables say; the key may stand in another one than usual.
///
/// # Errors
/// Which variable cannot be used, and what it may be.
pub fn layer(lookup: impl Fn(&str) -> Result<Option<String>>, key_variable: Option<&str>) -> Result<Layer> {
    let mut layer = Layer::new();
    for key in KEYS {
        let Some(name) = named(key, key_variable) else { continue };
        let Some(text) = lookup(name)? else { continue };
        let value = key.kind.parse(text.trim()).map_err(anyhow::Error::msg);
        let value = value.with_context(|| format!("the variable {name}"))?;
        layer.push(Setting { key, value, source: Source::Variable(name.to_owned()) });
    }
    Ok(layer)
}

/// The names of all variables of the process that are set, in order.
pub fn names() -> Vec<String> {
    let set = std::env::vars_os().filter(|(_, value)| !value.is_empty());
    let mut names: Vec<String> = set.filter_map(|(name, _)| name.into_string().ok()).collect();
    names.sort();
    names
}

/// A warning for each variable that looks like one of ours and is none.
pub fn strangers(names: Vec<String>, key_variable: Option<&str>) -> Vec<String> {
    let known = [file::VARIABLE].into_iter().chain(KEYS.iter().filter_map(|key| key.variable));
    let known: Vec<&str> = known.filter_map(|name| name.strip_prefix(OURS)).collect();
    let strange = |name: &String| {
        let rest = name.strip_prefix(OURS)?;
        let ours = known.contains(&rest) || key_variable == Some(name);
        (!ours).then(|| {
            format!("warning: the variable {name} is no setting and changes nothing{}", hint(rest, &known))
        })
    };
    names.iter().filter_map(strange).collect()
}

/// What was meant, or else what there is.
fn hint(rest: &str, known: &[&str]) -> String {
    match guess::nearest(rest, known.iter().copied()) {
        Some(meant) => format!("; did you mean `{OURS}{meant}`?"),
        None => format!(" (there are {OURS}{})", known.join(&format!(", {OURS}"))),
    }
}

fn named<'a>(key: &Key, key_variable: Option<&'a str>) -> Option<&'a str> {
    match key_variable {
        Some(name) if key.name == "model.api_key" => Some(name),
        _ => key.variable,
    }
}

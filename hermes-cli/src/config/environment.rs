//! The layer of the environment.

use anyhow::{Context, Result, bail};

use super::keys::{KEYS, Key};
use super::layers::{Layer, Setting, Source};

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

fn named<'a>(key: &Key, key_variable: Option<&'a str>) -> Option<&'a str> {
    match key_variable {
        Some(name) if key.name == "model.api_key" => Some(name),
        _ => key.variable,
    }
}

//! A first `hermes.yaml`, with a word on each setting.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::file::Wanted;
use crate::report::write_line;
use crate::terminal::harmless;

/// What it says. Lines that begin with `#` and no blank are settings that hold anyway, or examples.
const TEXT: &str = include_str!("starter.yaml");

/// Writes it where settings are looked for, if nothing is there yet, readable by its owner only, for it may hold a key.
///
/// # Errors
/// When something is there, or it cannot be written.
pub fn write(named: Option<&Path>) -> Result<()> {
    let wanted = Wanted::of(named)?;
    let path = &wanted.path;
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let mut file = match file {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            bail!(
                "{} is there already: name another file with --config, or move that one away",
                path.display()
            )
        }
        file => file.with_context(|| format!("cannot make {}", path.display()))?,
    };
    file.write_all(TEXT.as_bytes()).with_context(|| format!("cannot write {}", path.display()))?;
    let shows = wanted.command("hermes config");
    Ok(write_line(&harmless(&format!("Wrote {}; `{shows}` shows what is in force.", path.display())))?)
}

#[cfg(test)]
mod tests {
    use super::super::{document, keys::KEYS};
    use super::*;

    #[test]
    fn it_names_every_setting_and_can_be_read_with_and_without_its_examples() {
        assert_eq!(document::read(TEXT).map_err(|wrong| wrong.words).unwrap().len(), 2);
        let uncommented = TEXT.lines().map(|line| match line.trim_start().strip_prefix('#') {
            Some(setting) if !setting.is_empty() && !setting.starts_with(' ') => line.replacen('#', "", 1),
            _ => line.to_owned(),
        });
        let uncommented: String = uncommented.map(|line| line + "\n").collect();
        let one_key = uncommented.replacen("  api_key: sk-...\n", "", 1);
        let said = document::read(&one_key).map_err(|wrong| wrong.words).unwrap();
        for key in KEYS.iter().filter(|key| key.name != "model.api_key") {
            assert!(said.iter().any(|said| said.key == key), "{}", key.name);
        }
        assert_ne!(one_key, uncommented);
    }
}

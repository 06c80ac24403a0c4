//! The layer of `hermes.yaml`: where it is looked for, and what it says.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};

use super::document::{self, Said};
use super::environment::variable;
use super::kind::Kind;
use super::layers::{Layer, Setting, Source};
use super::yaml::{Place, Wrong};

/// The file that is read when none is named.
pub const NAME: &str = "hermes.yaml";

/// The variable that names another one.
pub const VARIABLE: &str = "HERMES_CONFIG";

/// Where settings are looked for, and who says so.
pub struct Wanted {
    pub path: PathBuf,
    named: Named,
}

#[derive(Clone, Copy)]
enum Named {
    Flag,
    Variable,
    Nobody,
}

impl Wanted {
    /// The one that the option names, else the variable `HERMES_CONFIG`, else `hermes.yaml` in the working directory.
    ///
    /// # Errors
    /// When the variable is no text.
    pub fn of(flag: Option<&Path>) -> Result<Self> {
        if let Some(path) = flag {
            return Ok(Self { path: path.to_owned(), named: Named::Flag });
        }
        Ok(match variable(VARIABLE)? {
            Some(path) => Self { path: path.into(), named: Named::Variable },
            None => Self { path: NAME.into(), named: Named::Nobody },
        })
    }

    /// The file, if it is there.
    ///
    /// # Errors
    /// When one that was named is not.
    pub fn find(self) -> Result<Option<PathBuf>> {
        let said_by = match self.named {
            Named::Flag => "--config",
            Named::Variable => VARIABLE,
            Named::Nobody => return Ok(self.path.symlink_metadata().is_ok().then_some(self.path)),
        };
        fs::metadata(&self.path).with_context(|| {
            let (path, command) = (self.path.display(), self.command("hermes config --init"));
            format!("cannot read {path}, which {said_by} names (`{command}` makes one)")
        })?;
        Ok(Some(self.path))
    }

    /// The command with what makes it look here too, as a shell reads it.
    pub fn command(&self, command: &str) -> String {
        match self.named {
            Named::Flag => format!("{command} --config {}", quoted(&self.path.display().to_string())),
            Named::Variable | Named::Nobody => command.to_owned(),
        }
    }
}

/// One word of a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+,:@".contains(c);
    if word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// What a file says.
///
/// # Errors
/// When it cannot be read; and with its line and column what cannot be used, and what can.
pub fn read(path: &Path) -> Result<Layer> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
        anyhow!("{}:{line}: this is no UTF-8 text: save the file as UTF-8", path.display())
    })?;
    let placed = |Wrong { place: Place { line, column }, words }| {
        anyhow!("{}:{line}:{column}: {words}", path.display())
    };
    let said = document::read(&text).map_err(placed)?;
    Ok(said.into_iter().map(|said| setting(path, said)).collect())
}

fn setting(path: &Path, Said { key, value, place }: Said) -> Setting {
    let value = match (key.kind, value.as_str()) {
        (Kind::Path, Some(text)) => beside(path, text).into(),
        (Kind::Journal, Some(text)) if text != "memory" => beside(path, text).into(),
        _ => value,
    };
    Setting { key, value, source: Source::File(path.to_owned(), place) }
}

/// A path as said in a file counts from the folder of that file on.
fn beside(file: &Path, path: &str) -> String {
    match file.parent() {
        Some(folder) if folder != Path::new("") => folder.join(path).display().to_string(),
        _ => path.to_owned(),
    }
}

/// What everybody who may read the file learns from it.
pub fn warning(path: &Path, layer: &Layer) -> Option<String> {
    let secret = layer.iter().find(|setting| setting.key.name == "model.api_key")?;
    let mode = fs::metadata(path).ok()?.permissions().mode();
    (mode & 0o077 != 0).then(|| {
        format!(
            "warning: {} holds a key, and other users of this machine may read it: `chmod 600 {}`, or name a variable \
             with api_key_env",
            secret.source,
            path.display()
        )
    })
}

//! `hermes config`: each setting in force, its value and where it was said.

use std::fmt::Write;
use std::path::absolute;

use anyhow::Result;
use serde_json::{Map, Value, json};
use unicode_width::UnicodeWidthStr;

use super::keys::Force;
use super::kind::Kind;
use super::layers::{Setting, Source};
use super::mask::masked;
use super::{Config, file, starter};
use crate::args::ConfigArgs;
use crate::exit::Exit;
use crate::model;
use crate::report::{Form, write_line};
use crate::terminal::{clip, harmless, harmless_json};

/// How wide the columns of names and values are.
const NAME: usize = 24;
const VALUE: usize = 44;

/// Shows the settings, or writes a first file of them.
///
/// # Errors
/// When the settings cannot be used, or the file cannot be written.
pub fn show(args: &ConfigArgs) -> Result<Exit> {
    if args.init {
        starter::write(args.config.config.as_deref())?;
        return Ok(Exit::Good);
    }
    let config = Config::load(args.config.config.as_deref(), args.settings.layer()?)?;
    model::check(&config)?;
    write_line(&match args.form() {
        Form::Text => harmless(text(&config).trim_end()),
        Form::Json => harmless_json(&format!("{:#}", json(&config))),
    })?;
    Ok(Exit::Good)
}

fn text(config: &Config) -> String {
    let mut text = match &config.file {
        Some(file) => {
            format!("Settings of {}, the environment and the options; later ones win.\n", file.display())
        }
        None => format!("Settings of the environment and the options; there is no {} here.\n", file::NAME),
    };
    for setting in config.layers.iter() {
        let notes = notes(config, setting).into_iter().map(|note| format!("; {note}")).collect::<String>();
        let (name, value) = (setting.key.name, shown_text(setting));
        let blanks = " ".repeat(VALUE.saturating_sub(value.width()));
        // Writing to a string does not fail.
        let _ = writeln!(text, "{name:<NAME$} {value}{blanks} {}{notes}", setting.source);
    }
    text
}

/// What else should be known of a setting.
fn notes(config: &Config, setting: &Setting) -> Vec<String> {
    let mut notes = Vec::new();
    if setting.key.force == Force::NotYet {
        notes.push("not in force yet".to_owned());
    }
    let model = &config.settings.model;
    if let (Some(variable), None, "model.api_key_env") =
        (&model.api_key_env, &model.api_key, setting.key.name)
    {
        notes.push(format!("{variable} is not set"));
    }
    notes
}

/// The value on one line.
fn shown_text(setting: &Setting) -> String {
    let text = match shown(setting) {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.replace('\n', "⏎"),
        Value::Array(items) if items.is_empty() => "-".to_owned(),
        Value::Object(entries) if entries.is_empty() => "-".to_owned(),
        Value::Array(items) if setting.key.kind != Kind::Texts => {
            items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
        }
        value => value.to_string(),
    };
    match setting.key.kind {
        Kind::Path | Kind::Journal | Kind::Address => text,
        _ => clip(&text, VALUE),
    }
}

/// The value without what is secret in it.
fn shown(setting: &Setting) -> Value {
    match (setting.key.kind, &setting.value) {
        (Kind::Secret, Value::String(secret)) => masked(secret).into(),
        (Kind::Secrets, Value::Object(secrets)) => {
            let entry = |(name, secret): (&String, &Value)| {
                (name.clone(), masked(secret.as_str().unwrap_or_default()).into())
            };
            Value::Object(secrets.iter().map(entry).collect())
        }
        (Kind::Address, Value::String(url)) => match url.split_once('?') {
            Some((url, _)) => format!("{url}?***").into(),
            None => setting.value.clone(),
        },
        (_, value) => value.clone(),
    }
}

fn json(config: &Config) -> Value {
    let setting = |setting: &Setting| {
        let mut entry = json!({"value": shown(setting), "source": source(&setting.source)});
        if setting.key.force == Force::NotYet {
            entry["in_force"] = false.into();
        }
        (setting.key.name.to_owned(), entry)
    };
    let settings: Map<String, Value> = config.layers.iter().map(setting).collect();
    json!({"file": config.file.as_ref().map(|file| absolute(file).unwrap_or(file.clone())), "settings": settings})
}

fn source(source: &Source) -> Value {
    match source {
        Source::Default => json!({"kind": "default"}),
        Source::File(file, place) => json!({"kind": "file", "file": file, "line": place.line}),
        Source::Variable(name) => json!({"kind": "variable", "name": name}),
        Source::Flag(flag) => json!({"kind": "flag", "name": flag}),
    }
}

//! What the text of a `hermes.yaml` says: each setting with its value and place, or what in it cannot be used.

use serde_json::Value;

use super::keys::{self, KEYS, Key};
use super::slip;
use super::yaml::{self, Name, Node, Place, Shape, Wrong};
use crate::guess;

/// A setting as it was said.
pub struct Said {
    pub key: &'static Key,
    pub value: Value,
    /// Where its name stands.
    pub place: Place,
}

/// Reads the settings of a document. A key without a value says nothing, as if it were not there.
///
/// # Errors
/// The first thing that cannot be used, and what can.
pub fn read(text: &str) -> Result<Vec<Said>, Wrong> {
    let mut said = Vec::new();
    collect(None, &yaml::read(text)?, &mut said)?;
    let place = |name| said.iter().find(|said| said.key.name == name).map(|said| said.place);
    match (place("model.api_key"), place("model.api_key_env")) {
        (Some(key), Some(variable)) => Err(Wrong {
            place: variable,
            words: format!(
                "`api_key_env` names a variable with the key, and line {} holds one: keep one",
                key.line
            ),
        }),
        _ => Ok(said),
    }
}

/// Reads a map: the whole document, or the one of this name.
fn collect(section: Option<&str>, map: &Node, said: &mut Vec<Said>) -> Result<(), Wrong> {
    let entries = match &map.shape {
        Shape::Map(entries) => entries,
        Shape::Scalar(Value::Null) => return Ok(()),
        shape => return Err(Wrong { place: map.place, words: no_map(section, shape) }),
    };
    for (name, node) in entries {
        match section {
            None if name.text == "model" => collect(Some("model"), node, said)?,
            _ => said.extend(entry(section, name, node, said)?),
        }
    }
    Ok(())
}

fn no_map(section: Option<&str>, shape: &Shape) -> String {
    let words = match section {
        Some(name) => format!("`{name}` must be a map of settings, such as `model_name: qwen2.5:7b`"),
        None => "the file must hold a map of settings, such as `max_iterations: 8`".to_owned(),
    };
    match shape {
        Shape::Scalar(Value::String(text)) => words + &missing_blank(text),
        _ => words,
    }
}

fn missing_blank(text: &str) -> String {
    slip::blank(text).map_or_else(String::new, |hint| format!("; {hint}"))
}

fn entry(section: Option<&str>, name: &Name, node: &Node, said: &[Said]) -> Result<Option<Said>, Wrong> {
    let path = section.map_or_else(|| name.text.clone(), |section| format!("{section}.{}", name.text));
    // Dots are ours, for telling; in a file there is one way to say a thing.
    let key = keys::find(&path).filter(|_| !name.text.contains('.')).ok_or_else(|| unknown(section, name))?;
    if let Some(first) = said.iter().find(|said| said.key == key) {
        let line = first.place.line;
        let words = format!("`{}` says the same setting as line {line}: keep one of them", name.text);
        return Err(Wrong { place: name.place, words });
    }
    if matches!(node.shape, Shape::Scalar(Value::Null)) {
        return Ok(None);
    }
    Ok(Some(Said { key, value: key.kind.read(&path, node)?, place: name.place }))
}

fn unknown(section: Option<&str>, name: &Name) -> Wrong {
    let here = names(section);
    let elsewhere = if section.is_none() { Some("model") } else { None };
    let moved = match (section, names(elsewhere).contains(&&*name.text)) {
        (None, true) => Some("it belongs below `model:`"),
        (Some(_), true) => Some("it belongs at the left margin, not below `model:`"),
        (_, false) => None,
    };
    let moved = moved.map(str::to_owned).or_else(|| slip::blank(&name.text));
    let hint =
        moved.map_or_else(|| guess::meant(&name.text, here.iter().copied()), |moved| format!("; {moved}"));
    let below = section.map_or(String::new(), |section| format!(" below `{section}`"));
    let words = format!("there is no setting `{}`{below}{hint} (there are {})", name.text, here.join(", "));
    Wrong { place: name.place, words }
}

/// The names in a section, or outside of all.
fn names(section: Option<&str>) -> Vec<&'static str> {
    let mut names = Vec::new();
    if section.is_none() {
        names.push("model");
    }
    for key in KEYS {
        match (section, key.name.split_once('.')) {
            (Some(section), Some((of, name))) if of == section => names.push(name),
            (None, None) => names.push(key.name),
            _ => {}
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn said(text: &str) -> String {
        match read(text) {
            Ok(said) => said
                .iter()
                .map(|said| format!("{} = {} ({})\n", said.key.name, said.value, said.place.line))
                .collect(),
            Err(Wrong { place: Place { line, column }, words }) => format!("{line}:{column}: {words}\n"),
        }
    }

    #[test]
    fn settings_have_values_and_lines() {
        assert_eq!((said(""), said("model:\n")), (String::new(), String::new()));
        expect![[r#"
            model.model_name = "qwen" (2)
            model.headers = {"X-Team":"北京"} (3)
            model.stop = ["END"] (4)
            model.body = {"n":[1.5],"top_k":40} (5)
            max_iterations = 3 (6)
            tools = [] (7)
        "#]].assert_eq(&said(
            "model:\n  model_name: qwen\n  headers: {X-Team: 北京}\n  stop: END\n  body: {top_k: 40, n: [1.5]}\n\
             max_steps: 3\ntools: []\nroot:\n",
        ));
    }

    #[test]
    fn what_cannot_be_used_is_said_with_what_can() {
        let texts = [
            "max_iteration: 3\n",
            "temperature: 3\n",
            "model: {journal: x}\n",
            "model:\n  colour: red\n",
            "model: qwen\n",
            "- a\n",
            "model.endpoint: http://h\n",
            "max_steps: 3\nmax_iterations: 3\n",
            "max_iterations: 0\n",
            "max_iterations: many\n",
            "max_iterations: 1.5\n",
            "max_iterations: [1]\n",
            "model:\n  temperature: 3\n",
            "model:\n  streaming: \"yes\"\n",
            "model:\n  tool_choice: nine\n",
            "model:\n  endpoint: localhost:1\n",
            "model:\n  model_name: 7\n",
            "model:\n  seed: 1.5\n",
            "model:\n  headers: {A: 1}\n",
            "model:\n  headers: [secret]\n",
            "model:\n  api_key: 123456\n",
            "model:\n  api_key_env: sk-abcdefgh\n",
            "model:\n  api_key: a\n  api_key_env: B\n",
            "tools: [read_file, serch_files]\n",
            "tools: read_file\n",
            "task_timeout_seconds: 2m\n",
            "task_timeout_seconds: 0.0001\n",
            "system_prompt: \"\"\n",
            "系统: 1\n",
        ];
        let all: String = texts.iter().map(|text| format!("{text:?}\n    {}", said(text))).collect();
        expect![[r#"
            "max_iteration: 3\n"
                1:1: there is no setting `max_iteration`; did you mean `max_iterations`? (there are model, context_budget_tokens, max_iterations, request_timeout_seconds, task_timeout_seconds, system_prompt, tools, root, journal)
            "temperature: 3\n"
                1:1: there is no setting `temperature`; it belongs below `model:` (there are model, context_budget_tokens, max_iterations, request_timeout_seconds, task_timeout_seconds, system_prompt, tools, root, journal)
            "model: {journal: x}\n"
                1:9: there is no setting `journal` below `model`; it belongs at the left margin, not below `model:` (there are endpoint, model_name, api_key, api_key_env, headers, query, body, streaming, temperature, max_tokens, stop, seed, tool_choice)
            "model:\n  colour: red\n"
                2:3: there is no setting `colour` below `model` (there are endpoint, model_name, api_key, api_key_env, headers, query, body, streaming, temperature, max_tokens, stop, seed, tool_choice)
            "model: qwen\n"
                1:8: `model` must be a map of settings, such as `model_name: qwen2.5:7b`
            "- a\n"
                1:1: the file must hold a map of settings, such as `max_iterations: 8`
            "model.endpoint: http://h\n"
                1:1: there is no setting `model.endpoint`; did you mean `model`? (there are model, context_budget_tokens, max_iterations, request_timeout_seconds, task_timeout_seconds, system_prompt, tools, root, journal)
            "max_steps: 3\nmax_iterations: 3\n"
                2:1: `max_iterations` says the same setting as line 1: keep one of them
            "max_iterations: 0\n"
                1:17: `max_iterations`: 0 is not a whole number from 1 to 4294967295
            "max_iterations: many\n"
                1:17: `max_iterations`: "many" is not a whole number from 1 to 4294967295
            "max_iterations: 1.5\n"
                1:17: `max_iterations`: 1.5 is not a whole number from 1 to 4294967295
            "max_iterations: [1]\n"
                1:17: `max_iterations`: a list is not a whole number from 1 to 4294967295
            "model:\n  temperature: 3\n"
                2:16: `model.temperature`: 3 is not a number from 0 to 2
            "model:\n  streaming: \"yes\"\n"
                2:14: `model.streaming`: "yes" is not true or false
            "model:\n  tool_choice: nine\n"
                2:16: `model.tool_choice`: "nine" is not one of auto, none, required; did you mean `none`?
            "model:\n  endpoint: localhost:1\n"
                2:13: `model.endpoint`: `localhost:1` is no usable base URL: it must begin with http:// or https://; write it like http://localhost:11434/v1
            "model:\n  model_name: 7\n"
                2:15: `model.model_name`: 7 is not a text (which needs quotes if it looks like a number)
            "model:\n  seed: 1.5\n"
                2:9: `model.seed`: 1.5 is not a whole number
            "model:\n  headers: {A: 1}\n"
                2:16: `model.headers.A`: a number is not a text (which needs quotes if it looks like a number)
            "model:\n  headers: [secret]\n"
                2:12: `model.headers`: a list is not a map of names to texts
            "model:\n  api_key: 123456\n"
                2:12: `model.api_key`: a number is not a text (which needs quotes if it looks like a number)
            "model:\n  api_key_env: sk-abcdefgh\n"
                2:16: `model.api_key_env`: a text that is not shown here is not the name of an environment variable, such as DEEPSEEK_API_KEY
            "model:\n  api_key: a\n  api_key_env: B\n"
                3:3: `api_key_env` names a variable with the key, and line 2 holds one: keep one
            "tools: [read_file, serch_files]\n"
                1:20: `tools[1]`: "serch_files" is not one of list_directory, read_file, search_files; did you mean `search_files`?
            "tools: read_file\n"
                1:8: `tools`: "read_file" is not a list of some of list_directory, read_file, search_files
            "task_timeout_seconds: 2m\n"
                1:23: `task_timeout_seconds`: "2m" is not a number of seconds above zero, such as 90 or 0.5
            "task_timeout_seconds: 0.0001\n"
                1:23: `task_timeout_seconds`: 0.0001 is not a number of seconds above zero, such as 90 or 0.5
            "system_prompt: \"\"\n"
                1:16: `system_prompt`: "" is not a text (which needs quotes if it looks like a number)
            "系统: 1\n"
                1:1: there is no setting `系统` (there are model, context_budget_tokens, max_iterations, request_timeout_seconds, task_timeout_seconds, system_prompt, tools, root, journal)
        "#]].assert_eq(&all);
    }
}

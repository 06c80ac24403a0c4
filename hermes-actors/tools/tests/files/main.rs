//! The file tools, as a model meets them: each test makes a folder, calls, and shows the answer.
#![allow(clippy::unwrap_used, reason = "the helpers are part of the tests")]

use hermes_actors::tool::{Effect, SHOWN_CHARACTERS, ToolContext, ToolError, shown};
use hermes_tools::Files;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

mod confinement;
mod hidden;
mod read;
mod search;

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, content) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    folder
}

/// What the model reads when it calls a tool over the folder.
async fn call(folder: &Path, name: &str, arguments: Value) -> String {
    call_of(&Files::below(folder).unwrap(), name, arguments).await
}

async fn call_of(files: &Files, name: &str, arguments: Value) -> String {
    let tools = files.tools();
    let tool = tools.iter().find(|tool| tool.declaration().name == name).unwrap();
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    let outcome = tool.call(arguments, ToolContext::new("t1.0")).await;
    if let Ok(output) = &outcome {
        assert!(output.shown().chars().count() < SHOWN_CHARACTERS, "what is returned is never clipped");
    }
    shown(&outcome)
}

async fn list(folder: &TempDir, path: &str) -> String {
    call(folder.path(), "list_directory", json!({"path": path})).await
}

async fn read(folder: &TempDir, path: &str) -> String {
    call(folder.path(), "read_file", json!({"path": path})).await
}

async fn search(folder: &TempDir, arguments: Value) -> String {
    call(folder.path(), "search_files", arguments).await
}

#[test]
fn the_tools_are_read_only_and_acceptable_to_providers() {
    let folder = folder(&[]);
    for tool in Files::below(folder.path()).unwrap().tools() {
        let declaration = tool.declaration();
        assert_eq!(declaration.effect, Effect::ReadOnly);
        assert_eq!(declaration.check(), Ok(()));
        for (name, parameter) in declaration.parameters["properties"].as_object().unwrap() {
            assert!(parameter["description"].is_string(), "{name} is described");
        }
    }
}

#[test]
fn a_root_that_is_not_there_is_an_error_with_its_name() {
    let error = Files::below("/no/such/folder").unwrap_err();
    assert_eq!(error.to_string(), "cannot open the folder /no/such/folder");
    assert_eq!(error.source.kind(), std::io::ErrorKind::NotFound);
}

#[tokio::test]
async fn a_folder_is_listed_in_order_with_its_folders_marked() {
    let folder = folder(&[("b.txt", ""), ("笔记/一.md", ""), ("a/x", ""), ("🌞.txt", ""), (".hidden", "")]);
    assert_eq!(list(&folder, "").await, "OK: .hidden\na/\nb.txt\n笔记/\n🌞.txt");
    assert_eq!(list(&folder, "./笔记/").await, "OK: 一.md");
    assert_eq!(call(folder.path(), "list_directory", json!({})).await, list(&folder, ".").await);

    fs::create_dir(folder.path().join("empty")).unwrap();
    assert_eq!(list(&folder, "empty").await, "OK: The folder is empty.");
    assert_eq!(
        list(&folder, "b.txt").await,
        "ERROR: `b.txt` is not a folder, or one of the folders in it is none"
    );
}

#[tokio::test]
async fn a_long_listing_says_how_to_read_on() {
    let names: Vec<String> = (0..300).map(|n| format!("文件 {n:03}.txt")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    let folder = folder(&files);

    let mut listed = Vec::new();
    let mut arguments = json!({});
    loop {
        let answer = call(folder.path(), "list_directory", arguments).await;
        let lines: Vec<&str> = answer.strip_prefix("OK: ").unwrap().lines().collect();
        let (notice, page) = if lines[0].starts_with('[') { lines.split_at(1) } else { lines.split_at(0) };
        listed.extend(page.iter().map(|line| line.to_string()));
        let Some(notice) = notice.first() else { break };
        assert!(notice.contains("of 300 entries"), "{notice}");
        let after = notice.split_once("after = ").unwrap().1.trim_end_matches(']');
        arguments = json!({"after": serde_json::from_str::<String>(after).unwrap()});
    }
    assert_eq!(listed, names);
}

//! Searching: by name and by text.

use serde_json::json;
use std::fs;

use super::*;

#[tokio::test]
async fn files_are_found_by_a_part_of_their_name() {
    let folder = folder(&[
        ("src/main.rs", "fn main() {}"),
        ("src/main/mod.rs", ""),
        ("docs/天气.md", ""),
        ("Main.txt", ""),
        (".git/main", ""),
    ]);
    assert_eq!(search(&folder, json!({"name": "main"})).await, "OK: Main.txt\nsrc/main.rs\nsrc/main/");
    assert_eq!(search(&folder, json!({"name": "气"})).await, "OK: docs/天气.md");
    assert_eq!(search(&folder, json!({"name": "main", "path": "./src"})).await, "OK: src/main.rs\nsrc/main/");
    assert_eq!(search(&folder, json!({"name": "python"})).await, "OK: Nothing found.");
}

#[tokio::test]
async fn lines_are_found_by_a_text_in_them() {
    let folder =
        folder(&[("a.rs", "use x;\n  fn Weather() {}\n"), ("b.md", "weather: 晴\n"), ("c/d.rs", "weather")]);
    fs::write(folder.path().join("photo.jpg"), b"weather\xff\x00").unwrap();
    assert_eq!(
        search(&folder, json!({"text": "weather"})).await,
        "OK: [Not searched: 1 that are no text in UTF-8, over 8 MiB, or may not be read.]\n\
         a.rs:2: fn Weather() {}\nb.md:1: weather: 晴\nc/d.rs:1: weather"
    );
    assert_eq!(
        search(&folder, json!({"text": "weather", "name": ".rs"})).await,
        "OK: a.rs:2: fn Weather() {}\nc/d.rs:1: weather"
    );
    assert_eq!(search(&folder, json!({"text": "晴", "path": "b.md"})).await, "OK: b.md:1: weather: 晴");
}

#[tokio::test]
async fn a_search_with_many_hits_says_that_it_was_cut_off() {
    let folder = folder(&[("a.txt", &"晴 ".repeat(500)), ("b.txt", &"晴天\n".repeat(1_000))]);
    let answer = search(&folder, json!({"text": "晴"})).await;
    let mut lines = answer.lines();
    assert_eq!(
        lines.next(),
        Some(
            "OK: [Stopped early: there are more hits than fit. Search in one folder, or for something rarer.]"
        )
    );
    assert!(lines.next().is_some_and(|line| line.starts_with("a.txt:1: 晴 晴") && line.ends_with('…')));
    assert_eq!(lines.next(), Some("b.txt:1: 晴天"));
}

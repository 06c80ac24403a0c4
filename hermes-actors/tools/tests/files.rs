//! The file tools, as a model meets them: each test makes a folder, calls, and shows the answer.
#![allow(clippy::unwrap_used, reason = "the helpers are part of the tests")]

use hermes_actors::tool::{Effect, SHOWN_CHARACTERS, ToolContext, ToolError, shown};
use hermes_tools::Files;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

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
    let tools = Files::below(folder).unwrap().tools();
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

#[tokio::test]
async fn a_small_file_is_read_whole() {
    let folder = folder(&[("a.txt", "one\ntwo\n"), ("笔记/🌞.md", "今天晴\n"), ("empty", "")]);
    assert_eq!(read(&folder, "a.txt").await, "OK: one\ntwo\n");
    assert_eq!(read(&folder, "笔记/🌞.md").await, "OK: 今天晴\n");
    assert!(read(&folder, "empty").await.contains("That is a normal result"));
    assert_eq!(
        read(&folder, "b.txt").await,
        "ERROR: there is nothing at `b.txt`: search_files finds a file by a part of its name"
    );
    assert_eq!(read(&folder, "笔记").await, "ERROR: `笔记` is a folder: list_directory shows what is in it");
}

#[tokio::test]
async fn lines_are_read_by_number() {
    let folder = folder(&[("a.txt", "one\ntwo\nthree\nfour")]);
    let lines = |first_line: u64, lines: u64| {
        call(folder.path(), "read_file", json!({"path": "a.txt", "first_line": first_line, "lines": lines}))
    };
    assert_eq!(lines(2, 2).await, "OK: [lines 2-3, bytes 4-14 of 18; to read on: offset = 14]\ntwo\nthree\n");
    assert_eq!(lines(4, 9).await, "OK: [lines 4-4, bytes 14-18 of 18; this is the end of the file]\nfour");
    assert_eq!(lines(9, 1).await, "ERROR: there is no line 9: the file has 4 lines");
}

/// The whole file, page after page, as the notices say; with the number of pages.
async fn read_all(folder: &TempDir, path: &str) -> (String, usize) {
    let (mut text, mut pages, mut offset) = (String::new(), 0, 0);
    loop {
        let answer = call(folder.path(), "read_file", json!({"path": path, "offset": offset})).await;
        let (notice, page) = answer.strip_prefix("OK: [").unwrap().split_once("]\n").unwrap();
        text += page;
        pages += 1;
        match notice.split_once("offset = ") {
            Some((_, next)) => offset = next.parse().unwrap(),
            None => return (text, pages),
        }
    }
}

#[tokio::test]
async fn a_long_file_is_read_page_by_page_without_a_gap() {
    let lines: String = (0..500).map(|n| format!("第 {n} 行 🌞 some words\n")).collect();
    let one_line = "没有换行".repeat(3_000);
    let folder = folder(&[("lines.txt", &lines), ("one line.txt", &one_line)]);

    let (text, pages) = read_all(&folder, "lines.txt").await;
    assert!(text == lines && pages > 5, "{pages} pages");
    let (text, _) = read_all(&folder, "one line.txt").await;
    assert!(text == one_line);
    assert!(read(&folder, "lines.txt").await.ends_with('\n'), "a page ends with a line");
}

#[tokio::test]
async fn an_offset_inside_a_character_begins_with_the_next() {
    let folder = folder(&[("a.txt", "晴天")]);
    let answer = call(folder.path(), "read_file", json!({"path": "a.txt", "offset": 1})).await;
    assert_eq!(answer, "OK: [bytes 3-6 of 6; this is the end of the file]\n天");
    let answer = call(folder.path(), "read_file", json!({"path": "a.txt", "offset": 7})).await;
    assert_eq!(answer, "ERROR: offset 7 is past the end: the file has 6 bytes");
}

#[tokio::test]
async fn a_huge_file_costs_no_more_than_a_page() {
    let folder = folder(&[("huge.txt", "begin\n")]);
    let file = fs::OpenOptions::new().append(true).open(folder.path().join("huge.txt")).unwrap();
    let page: String = "x".repeat(99) + "\n";
    fs::write(folder.path().join("log.txt"), page.repeat(200_000)).unwrap();
    file.set_len(1 << 40).unwrap();

    assert_eq!(
        read(&folder, "huge.txt").await,
        "ERROR: `huge.txt` is not a text in UTF-8 (see byte 6): it is a binary file or has another encoding, and I \
         cannot read it"
    );
    assert!(read(&folder, "log.txt").await.starts_with("OK: [lines 1-18, bytes 0-1800 of 20000000;"));
    let far = json!({"path": "log.txt", "first_line": 150_001, "lines": 1});
    let far = call(folder.path(), "read_file", far).await;
    assert!(far.starts_with("OK: [lines 150001-150001, bytes 15000000-15000100 of"), "{far}");
}

#[tokio::test]
async fn what_is_no_utf_8_is_an_error_in_plain_words() {
    let folder = folder(&[]);
    fs::write(folder.path().join("gbk.txt"), b"ab\xb1\xb1\xbe\xa9").unwrap();
    let answer = read(&folder, "gbk.txt").await;
    assert!(answer.starts_with("ERROR: `gbk.txt` is not a text in UTF-8 (see byte 2)"), "{answer}");
}

#[tokio::test]
async fn unusable_arguments_say_what_is_wanted() {
    let folder = folder(&[]);
    let answer = call(folder.path(), "read_file", json!({"path": "a", "line": 3})).await;
    assert!(
        answer.starts_with("ERROR: unusable arguments, `line`: unknown field `line`, expected one of"),
        "{answer}"
    );
    let both = json!({"path": "a", "first_line": 3, "offset": 3});
    let answer = call(folder.path(), "read_file", both).await;
    assert!(answer.starts_with("ERROR: "), "{answer}");
    assert!(search(&folder, json!({"name": ""})).await.starts_with("ERROR: give name"));
}

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

#[tokio::test]
async fn an_absolute_path_below_the_root_is_taken_as_relative() {
    let folder = folder(&[("a/b.txt", "x")]);
    let inside = folder.path().join("a/b.txt");
    assert_eq!(read(&folder, inside.to_str().unwrap()).await, "OK: x");
    assert_eq!(list(&folder, folder.path().to_str().unwrap()).await, "OK: a/");
}

#[tokio::test]
async fn no_path_leads_out_of_the_root() {
    let outside = folder(&[("secret.txt", "secret")]);
    let folder = folder(&[("a.txt", "x")]);
    let outside = outside.path().to_str().unwrap().to_owned();
    let by_own_name = format!("{}/../..", folder.path().display());
    let absolute = format!("{outside}/secret.txt");
    for path in ["..", "../..", "a/../../b", "/", "/etc/passwd", &absolute, &by_own_name] {
        for name in ["list_directory", "read_file"] {
            let answer = call(folder.path(), name, json!({"path": path})).await;
            assert!(answer.starts_with("ERROR: "), "{path}: {answer}");
        }
        let answer = search(&folder, json!({"name": "secret", "path": path})).await;
        assert!(answer.starts_with("ERROR: "), "{path}: {answer}");
    }
    assert_eq!(
        read(&folder, "/etc/passwd").await,
        "ERROR: `/etc/passwd`: that path is outside of the folder I may read"
    );
}

#[cfg(unix)]
mod on_unix {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::process::Command;

    #[tokio::test]
    async fn a_link_out_of_the_root_is_seen_but_not_followed() {
        let outside = folder(&[("secret.txt", "secret")]);
        let folder = folder(&[("in/a.txt", "not secret")]);
        symlink(outside.path(), folder.path().join("out")).unwrap();
        symlink(outside.path().join("secret.txt"), folder.path().join("secret link")).unwrap();
        symlink("in", folder.path().join("inner")).unwrap();
        symlink(".", folder.path().join("loop")).unwrap();

        assert_eq!(list(&folder, "").await, "OK: in/\ninner/\nloop/\nout\nsecret link");
        assert_eq!(list(&folder, "inner").await, "OK: a.txt");
        for path in ["out/secret.txt", "secret link", "in/../out/secret.txt"] {
            assert_eq!(
                read(&folder, path).await,
                format!("ERROR: `{path}`: that path is outside of the folder I may read")
            );
        }
        assert!(list(&folder, "out").await.ends_with("outside of the folder I may read"));
        assert_eq!(search(&folder, json!({"text": "secret"})).await, "OK: in/a.txt:1: not secret");
        assert_eq!(search(&folder, json!({"name": "secret"})).await, "OK: secret link");
    }

    #[tokio::test]
    async fn a_pipe_is_refused_at_once() {
        let folder = folder(&[("a.txt", "x")]);
        let made = Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap();
        assert!(made.success());
        assert_eq!(
            read(&folder, "pipe").await,
            "ERROR: `pipe` is not a file with a text in it, but a pipe, device or socket"
        );
        assert!(search(&folder, json!({"text": "x"})).await.ends_with("a.txt:1: x"));
    }

    #[tokio::test]
    async fn a_device_is_refused() {
        let tools = Files::below("/dev").unwrap().tools();
        let Value::Object(arguments) = json!({"path": "zero"}) else { unreachable!() };
        let error: ToolError = tools[1].call(arguments, ToolContext::new("t1.0")).await.unwrap_err();
        assert_eq!(error.message(), "`zero` is not a file with a text in it, but a pipe, device or socket");
    }

    #[tokio::test]
    async fn a_name_that_would_break_the_line_is_written_as_json() {
        let folder = folder(&[("a\nb", "x")]);
        assert_eq!(list(&folder, "").await, r#"OK: "a\nb""#);
        assert_eq!(search(&folder, json!({"text": "x"})).await, r#"OK: "a\nb":1: x"#);
        assert_eq!(read(&folder, "a\nb").await, "OK: x");
    }
}

//! Reading a file: whole, by lines, page by page.

use serde_json::json;
use std::fs;

use super::*;

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
    assert_eq!(lines(0, 0).await, "OK: one\ntwo\nthree\nfour", "0 counts as not given");
}

#[tokio::test]
async fn a_line_past_the_end_is_an_error_that_says_how_many_there_are() {
    let folder = folder(&[("two", "one\ntwo\n"), ("one", "one\n"), ("empty", "")]);
    for (path, line, words) in [
        ("two", 3, "there is no line 3: the file has 2 lines"),
        ("two", u64::MAX, "there is no line 18446744073709551615: the file has 2 lines"),
        ("one", 2, "there is no line 2: the file has 1 line"),
        ("empty", 2, "there is no line 2: the file has 0 lines"),
    ] {
        let answer = call(folder.path(), "read_file", json!({"path": path, "first_line": line})).await;
        assert_eq!(answer, format!("ERROR: {words}"));
    }
}

#[tokio::test]
async fn blanks_around_a_name_are_of_the_name() {
    let folder = folder(&[("a.txt", "plain"), (" a.txt ", "blanks")]);
    assert_eq!(read(&folder, " a.txt ").await, "OK: blanks");
    assert_eq!(read(&folder, "a.txt").await, "OK: plain");
    assert!(read(&folder, "a.txt ").await.starts_with("ERROR: there is nothing at `a.txt `"));
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
    assert!(answer.starts_with("ERROR: unusable arguments: `line`: unknown, there are `"), "{answer}");
    let both = json!({"path": "a", "first_line": 3, "offset": 3});
    let answer = call(folder.path(), "read_file", both).await;
    assert!(answer.starts_with("ERROR: "), "{answer}");
    assert!(search(&folder, json!({"name": ""})).await.starts_with("ERROR: give name"));
}

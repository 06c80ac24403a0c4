//! The journal of the run that calls: its agent does not see it.

use serde_json::json;

use super::*;

#[tokio::test]
async fn a_hidden_journal_is_neither_listed_nor_searched_nor_read() {
    let family = ["t.jsonl", "t-2.jsonl", "t.r1.jsonl", "t-2.r1.jsonl", "t.jsonl.blobs/12ab"];
    let others = ["a.txt", "t-old.jsonl", "t.jsonl.bak", "x/t.jsonl"];
    let all: Vec<_> = family.iter().chain(&others).map(|path| (*path, "Berlin")).collect();
    let folder = folder(&all);
    let files = Files::below(folder.path()).unwrap().hiding(folder.path().join("t.jsonl"));

    assert_eq!(call_of(&files, "list_directory", json!({})).await, "OK: a.txt\nt-old.jsonl\nt.jsonl.bak\nx/");
    let found = call_of(&files, "search_files", json!({"text": "Berlin"})).await;
    assert_eq!(
        found,
        "OK: a.txt:1: Berlin\nt-old.jsonl:1: Berlin\nt.jsonl.bak:1: Berlin\nx/t.jsonl:1: Berlin"
    );
    assert_eq!(call_of(&files, "search_files", json!({"name": "t.r1"})).await, "OK: Nothing found.");
    let absolute = folder.path().join("t.jsonl");
    for path in family.into_iter().chain(["./x/../t.jsonl", "t.jsonl.blobs", absolute.to_str().unwrap()]) {
        for (tool, arguments) in [
            ("read_file", json!({"path": path})),
            ("list_directory", json!({"path": path})),
            ("search_files", json!({"path": path, "text": "Berlin"})),
        ] {
            let answer = call_of(&files, tool, arguments).await;
            assert!(answer.starts_with("ERROR: there is nothing at `"), "{tool} {path}: {answer}");
        }
    }
    assert_eq!(call_of(&files, "read_file", json!({"path": "x/t.jsonl"})).await, "OK: Berlin");
}

#[tokio::test]
async fn a_hidden_journal_elsewhere_hides_nothing() {
    let (folder, elsewhere) = (folder(&[("t.jsonl", "x")]), folder(&[("t.jsonl", "x")]));
    let files = Files::below(folder.path()).unwrap().hiding(elsewhere.path().join("t.jsonl"));
    assert_eq!(call_of(&files, "list_directory", json!({})).await, "OK: t.jsonl");
    let nested = Files::below(folder.path()).unwrap().hiding(folder.path().join("no/such/t.jsonl"));
    assert_eq!(call_of(&nested, "read_file", json!({"path": "t.jsonl"})).await, "OK: x");
}

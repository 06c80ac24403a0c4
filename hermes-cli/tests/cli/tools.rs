//! `hermes tools`: the tools as the model sees them, and one of them by hand.

use expect_test::expect;
use serde_json::Value;

use crate::support::{Ended, Place};

fn tools<'a>(place: &Place, args: impl IntoIterator<Item = &'a str>) -> Ended {
    Ended::of(&mut place.hermes(["tools"].into_iter().chain(args)))
}

#[test]
fn the_list_has_a_line_for_each_tool() {
    let ended = tools(&Place::new(), []).expect(0);
    expect![[r#"
        list_directory   read_only    Lists what is in a folder, one entry on each line, sorted.
        read_file        read_only    Reads a text file.
        search_files     read_only    Searches all folders below for files and folders whose name contains a keyword, or for lines that contain a text, or for such lines in such files.
    "#]].assert_eq(&ended.stdout);
    assert_eq!(ended.stderr, "");
}

#[test]
fn json_has_the_schemas() {
    let place = Place::new();
    let all: Value = serde_json::from_str(&tools(&place, ["--json"]).expect(0).stdout).unwrap();
    assert_eq!(all.as_array().unwrap().len(), 3);
    let one: Value = serde_json::from_str(&tools(&place, ["--json", "read_file"]).expect(0).stdout).unwrap();
    assert_eq!(one, all[1]);
    assert_eq!(one["name"], "read_file");
    assert_eq!(one["effect"], "read_only");
    assert_eq!(one["parameters"]["properties"]["path"]["type"], "string");
}

#[test]
fn a_name_shows_that_tool_whole() {
    let ended = tools(&Place::new(), ["list_directory"]).expect(0);
    expect![[r#"
        list_directory  (read_only, at most 30 s)

        Lists what is in a folder, one entry on each line, sorted. The names of folders end with a slash.

        Arguments: {
          "properties": {
            "after": {
              "description": "List only what comes after this entry, to read on in a long listing.",
              "type": "string"
            },
            "path": {
              "description": "The folder, relative to the top. Without it: the top.",
              "type": "string"
            }
          },
          "type": "object"
        }
    "#]]
    .assert_eq(&ended.stdout);
}

#[test]
fn a_tool_can_be_called_by_hand() {
    let place = Place::new();
    let call = |args: [&str; 2]| tools(&place, ["call", args[0], args[1], "--root", "root"]);
    assert_eq!(call(["list_directory", "{}"]).expect(0).stdout, "OK: notes.txt\n");
    let read = call(["read_file", r#"{"path": "notes.txt"}"#]).expect(0).stdout;
    assert!(read.starts_with("OK: ") && read.contains("北京 notes"), "{read}");
    let missing = call(["read_file", r#"{"path": "北京.txt"}"#]).expect(1).stdout;
    assert!(missing.starts_with("ERROR: ") && missing.contains("北京.txt"), "{missing}");
    let wrong = call(["read_file", r#"{"page": 1}"#]).expect(1).stdout;
    assert!(wrong.starts_with("ERROR: ") && wrong.contains("path"), "{wrong}");
    assert!(!place.path("hermes_trace.jsonl").exists());
}

#[test]
fn what_cannot_be_called_is_2() {
    let place = Place::new();
    for (args, words) in [
        (
            vec!["delete_file"],
            "there is no tool `delete_file`: there are list_directory, read_file, search_files",
        ),
        (vec!["call", "delete_file"], "there is no tool `delete_file`"),
        (vec!["call", "read_file", "notes.txt"], "the arguments are no JSON object"),
        (vec!["call", "read_file", "[1]"], "the arguments are no JSON object"),
        (
            vec!["call", "read_file", "{}", "--root", "nowhere"],
            "--root nowhere: there is no such folder; name an existing one",
        ),
    ] {
        assert_eq!(tools(&place, args).expect(2).says(words).stdout, "");
    }
}

#[test]
fn settings_choose_the_tools() {
    let place = Place::new();
    place.write("hermes.yaml", "tools: [search_files]\nroot: root\n");
    let listed = tools(&place, []).expect(0).stdout;
    assert!(listed.starts_with("search_files ") && listed.lines().count() == 1, "{listed}");
    tools(&place, ["read_file"]).expect(2).says("there is no tool `read_file`: there are search_files");
    let found = tools(&place, ["call", "search_files", r#"{"text": "北京"}"#]).expect(0).stdout;
    assert!(found.contains("notes.txt"), "{found}");
    place.write("hermes.yaml", "tools: []\n");
    assert_eq!(tools(&place, []).expect(0).stdout, "The settings give the agent no tools.\n");
}

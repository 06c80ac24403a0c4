//! Tests of what others do: names of siblings that they occupy, a journal that they take away, names that are not UTF-8.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;

use super::*;

/// `x.jsonl` as another process holds it: by a lock that is not our registry's.
fn held(place: &Place) -> File {
    let theirs = claim::open(&place.path("x.jsonl")).unwrap();
    theirs.try_lock().unwrap();
    theirs
}

#[test]
fn an_occupied_name_of_a_sibling_is_passed_over() {
    let place = Place::new();
    let _theirs = held(&place);
    fs::create_dir(place.path("x-2.jsonl")).unwrap();
    fs::write(place.path("x-3.jsonl"), "# Readme\n").unwrap();
    symlink(place.path("nowhere"), place.path("x-4.jsonl")).unwrap();
    symlink(place.path("no/where"), place.path("x-5.jsonl")).unwrap();
    let journal = place.open("x.jsonl");
    append(&*journal, &["a"]).unwrap();
    assert_eq!(place.plain(journal.location()), "…/x-6.jsonl");
    assert_eq!(place.text("x-3.jsonl"), "# Readme\n");
    assert!(!place.path("nowhere").exists());
}

#[test]
fn when_no_sibling_can_be_had_the_error_says_why_one_was_wanted() {
    let place = Place::new();
    let _theirs = held(&place);
    for number in 2..=1_000 {
        fs::create_dir(place.path(&format!("x-{number}.jsonl"))).unwrap();
    }
    expect!["cannot lock the journal …/x.jsonl: …/x.jsonl is in use by another process, and none of its siblings up to …/x-1000.jsonl can be had: cannot open the journal …/x-2.jsonl: it is a folder: name a file in it"].assert_eq(&place.refused("x.jsonl"));
}

#[test]
fn a_journal_that_is_taken_away_during_a_run_is_noticed_at_its_end() {
    let takings: [fn(&Path); 4] = [
        |path| fs::remove_file(path).unwrap(),
        |path| fs::rename(path, path.with_extension("old")).unwrap(),
        |path| {
            fs::remove_file(path).unwrap();
            fs::write(path, "x".repeat(1_000)).unwrap();
        },
        |path| File::options().write(true).open(path).unwrap().set_len(0).unwrap(),
    ];
    for take in takings {
        let place = Place::new();
        let journal = place.open("x.jsonl");
        append(&*journal, &["a", "b"]).unwrap();
        journal.flush().unwrap();
        take(&place.path("x.jsonl"));
        append(&*journal, &["c"]).unwrap();
        let words = place.plain(journal.flush().unwrap_err());
        expect!["cannot write the journal …/x.jsonl: it was moved, replaced or truncated while it was written: what was written since is not there"].assert_eq(&words);
        // Nor does the run go on as if it were kept.
        assert_eq!(place.plain(append(&*journal, &["d"]).unwrap_err()), words);
        assert_eq!(place.plain(journal.flush().unwrap_err()), words);
    }
}

#[test]
fn what_replaced_a_journal_is_not_rotated() {
    let place = Place::new();
    let options = Options { rotate_at: 60, ..Options::default() };
    let journal = FileJournal::open_with(place.path("x.jsonl"), options).unwrap();
    append(&*journal, &["a", "b"]).unwrap();
    fs::remove_file(place.path("x.jsonl")).unwrap();
    fs::write(place.path("x.jsonl"), "theirs").unwrap();
    assert!(append(&*journal, &["c"]).is_err());
    assert_eq!(place.names(), ["x.jsonl"]);
    assert_eq!(place.text("x.jsonl"), "theirs");
}

#[test]
fn what_lies_beside_no_journal_is_left_there() {
    let place = Place::new();
    fs::write(place.path("notes"), "# Notes\n").unwrap();
    fs::write(place.path("notes.new"), "more").unwrap();
    place.refused("notes");
    assert_eq!(place.text("notes.new"), "more");
}

#[test]
fn a_name_that_is_not_utf_8_is_one_as_any_other() {
    let place = Place::new();
    let named = |name: &[u8]| place.0.path().canonicalize().unwrap().join(OsStr::from_bytes(name));
    let options = Options { rotate_at: 60, ..Options::default() };
    let path = named(b"x\xff.jsonl");
    let journal = FileJournal::open_with(&path, options).unwrap();
    let hash = journal.put_blob(b"kept").unwrap();
    append(&*journal, &["a", "b"]).unwrap();
    append(&*journal, &["c"]).unwrap();

    let reader = ReadOnlyJournal::open(&path).unwrap();
    assert_eq!(reader.path(), path);
    assert_eq!(journal.path(), path);
    assert_eq!(&reader.blob(&hash).unwrap()[..], b"kept");
    assert_eq!(all(&reader), [1, 2, 3]);
    let rotated = named(b"x\xff.r1.jsonl");
    assert!(rotated.exists());
    assert!(FileJournal::open(rotated, Durability::Process).is_err(), "a rotated part is no journal");
}

//! Tests of the file journal: numbers over reopening and rotation, torn lines, failures, sharing.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use chrono::DateTime;
use expect_test::expect;
use tempfile::TempDir;

use super::*;
use crate::journal::Line;

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn open(&self, name: &str) -> Arc<FileJournal> {
        FileJournal::open(self.path(name), Durability::Process).unwrap()
    }

    fn refused(&self, name: &str) -> String {
        let error = FileJournal::open(self.path(name), Durability::Process).unwrap_err();
        self.plain(error)
    }

    /// The words without the name of the temporary folder.
    fn plain(&self, words: impl ToString) -> String {
        words.to_string().replace(self.0.path().canonicalize().unwrap().to_str().unwrap(), "…")
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn append(journal: &dyn Journal, tails: &[&str]) -> Result<(), JournalError> {
    let mut batch = Batch::new(DateTime::UNIX_EPOCH);
    for tail in tails {
        let tail = format!("\"id\":\"{tail}\"}}").into_bytes();
        batch.push(Line { tail, late: false, begun: false });
    }
    journal.append(&mut batch)
}

fn numbers(records: &[Record]) -> Vec<u64> {
    records.iter().map(|record| record.seq).collect()
}

fn all(journal: &dyn Journal) -> Vec<u64> {
    numbers(&journal.read(0, usize::MAX).unwrap())
}

#[test]
fn lines_stand_in_the_file_when_append_returns_and_numbers_go_on() {
    let place = Place::new();
    let journal = place.open("x.jsonl");
    append(&*journal, &["a", "b"]).unwrap();
    expect![[r#"
        {"v":1,"seq":1,"ts":"1970-01-01T00:00:00.000Z","id":"a"}
        {"v":1,"seq":2,"ts":"1970-01-01T00:00:00.000Z","id":"b"}
    "#]]
    .assert_eq(&place.text("x.jsonl"));
    drop(journal);
    let journal = place.open("x.jsonl");
    append(&*journal, &["c"]).unwrap();
    assert_eq!(all(&*journal), [1, 2, 3]);
    assert_eq!(journal.torn(), None);
}

#[test]
fn without_durability_lines_are_written_at_flush_read_and_drop() {
    let place = Place::new();
    let open = || FileJournal::open(place.path("x.jsonl"), Durability::None).unwrap();
    let journal = open();
    append(&*journal, &["a"]).unwrap();
    assert_eq!(place.text("x.jsonl"), "");
    assert_eq!(all(&*journal), [1]);
    append(&*journal, &["b"]).unwrap();
    assert_eq!(place.text("x.jsonl").lines().count(), 1);
    journal.flush().unwrap();
    assert_eq!(place.text("x.jsonl").lines().count(), 2);
    append(&*journal, &["c"]).unwrap();
    drop(journal);
    assert_eq!(place.text("x.jsonl").lines().count(), 3);
    // Whoever needs more gets it for all.
    let (weak, strong) = (open(), place.open("x.jsonl"));
    append(&*weak, &["d"]).unwrap();
    assert_eq!(place.text("x.jsonl").lines().count(), 4);
    assert!(Arc::ptr_eq(&weak, &strong));
}

#[test]
fn files_are_for_their_owner_only() {
    let place = Place::new();
    let journal = place.open("x.jsonl");
    let hash = journal.put_blob(b"secret").unwrap();
    let mode = |name: &str| fs::metadata(place.path(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("x.jsonl"), 0o600);
    assert_eq!(mode("x.jsonl.blobs"), 0o700);
    assert_eq!(mode(&format!("x.jsonl.blobs/{hash}")), 0o600);
    // An empty file that was there already becomes ours.
    fs::write(place.path("y.jsonl"), "").unwrap();
    fs::set_permissions(place.path("y.jsonl"), fs::Permissions::from_mode(0o644)).unwrap();
    place.open("y.jsonl");
    assert_eq!(mode("y.jsonl"), 0o600);
}

#[test]
fn a_torn_line_is_reported_and_cut_off() {
    let whole = "{\"v\":1,\"seq\":7,\"id\":\"a\"}\n";
    for (torn, last) in
        [("{\"v\":1,\"se", 7), ("{\"v\":1,\"seq\":8}", 7), ("{\"v\":1,\0\0\n", 7), ("\0\0\0\n\0", 7)]
    {
        let place = Place::new();
        fs::write(place.path("x.jsonl"), format!("{whole}{torn}")).unwrap();
        let journal = place.open("x.jsonl");
        let report = journal.torn().unwrap();
        assert_eq!(report.bytes, torn.len() as u64);
        assert_eq!(
            place.plain(report),
            format!(
                "the journal …/x.jsonl ends in a torn line of {} bytes, which was never delivered",
                torn.len()
            )
        );
        assert_eq!(place.text("x.jsonl"), whole);
        append(&*journal, &["b"]).unwrap();
        assert_eq!(all(&*journal), [last, last + 1]);
    }
}

#[test]
fn a_file_that_holds_one_torn_line_begins_again() {
    for torn in ["{", "{\"v\":1,\"seq\":1,\"id"] {
        let place = Place::new();
        fs::write(place.path("x.jsonl"), torn).unwrap();
        let journal = place.open("x.jsonl");
        assert_eq!(journal.torn().unwrap().bytes, torn.len() as u64);
        append(&*journal, &["a"]).unwrap();
        assert_eq!(all(&*journal), [1]);
    }
}

#[test]
fn what_is_no_journal_is_left_as_it_is() {
    for text in [
        "# Readme\n\nHello",
        "{\"name\":\"x\"}\n{\"name\":\"y\"}\n",
        "no line feed",
        "{\"name\":\"x\"}",
        "\0\0\0",
        "\n",
        "[1]\n",
    ] {
        let place = Place::new();
        fs::write(place.path("README.md"), text).unwrap();
        let words =
            "…/README.md is there and is no journal (its first line is no envelope): name another file";
        assert_eq!(place.refused("README.md"), words);
        assert_eq!(place.text("README.md"), text);
    }
}

#[test]
fn a_complete_line_that_is_damaged_is_not_taken_for_a_torn_one() {
    let refused = |end: &str| {
        let place = Place::new();
        let text = format!("{{\"v\":1,\"seq\":1}}\n{{\"v\":1,\"seq\":2}}\n{end}");
        fs::write(place.path("x.jsonl"), &text).unwrap();
        let words = place.refused("x.jsonl");
        assert_eq!(place.text("x.jsonl"), text);
        words
    };
    expect![[r#"line 3 of the journal …/x.jsonl is damaged: line "{\"v\":1,\"seq\":3,\"id\":\"a" is no envelope: EOF while parsing a string at line 1 column 22; nothing was changed: `hermes trace verify` it, then move it away or name another file"#]].assert_eq(&refused("{\"v\":1,\"seq\":3,\"id\":\"a\n"));
    expect![[r#"line 3 of the journal …/x.jsonl is damaged: line "{\"v\":1,\"id\":\"no number\"}" is no envelope: missing field `seq` at line 1 column 24; nothing was changed: `hermes trace verify` it, then move it away or name another file"#]].assert_eq(&refused("{\"v\":1,\"id\":\"no number\"}\n"));
    // Nor is one behind which a crash left something.
    for end in ["x\n{\"v\":1,", "x\n\0\0\n", "x\n\0\0"] {
        assert!(refused(end).starts_with("line 3 of the journal …/x.jsonl is damaged"), "{end:?}");
    }
}

#[test]
fn numbers_that_would_run_out_are_refused() {
    for last in [u64::MAX, u64::MAX - 1, u64::MAX / 2 + 1] {
        let place = Place::new();
        let text = format!("{{\"v\":1,\"seq\":{last}}}\n{{\"v\":1");
        fs::write(place.path("x.jsonl"), &text).unwrap();
        let words = format!(
            "cannot open the journal …/x.jsonl: its last number is {last}, and too few are left above it: name \
             another file"
        );
        assert_eq!(place.refused("x.jsonl"), words);
        assert_eq!(place.text("x.jsonl"), text);
    }
}

#[test]
fn a_newer_format_is_refused() {
    for text in [
        "{\"v\":2,\"seq\":1}\n",
        "{\"v\":1,\"seq\":1}\n{\"v\":2,\"seq\":2}\n{\"v\"",
        "{\"v\":2,\"order\":1}\n",
    ] {
        let place = Place::new();
        fs::write(place.path("x.jsonl"), text).unwrap();
        let words = "the journal …/x.jsonl has format 2; this program reads up to 1: use a newer one";
        assert_eq!(place.refused("x.jsonl"), words);
        assert_eq!(place.text("x.jsonl"), text);
    }
}

#[test]
fn places_where_no_journal_can_be_are_named() {
    let place = Place::new();
    fs::write(place.path("file"), "").unwrap();
    fs::create_dir(place.path("folder")).unwrap();
    symlink(place.path("circle"), place.path("circle")).unwrap();
    fs::write(place.path("y.jsonl"), "").unwrap();
    let refused = |name: &str| {
        let words = place.refused(name);
        words.replace(place.0.path().to_str().unwrap(), "…")
    };
    expect!["cannot open the journal …/none/x.jsonl: its folder …/none cannot be used (No such file or directory (os error 2)); make it, or name another place"].assert_eq(&refused("none/x.jsonl"));
    assert!(!place.path("none").exists());
    expect!["cannot open the journal …/file/x.jsonl: its folder …/file cannot be used (Not a directory (os error 20)); make it, or name another place"].assert_eq(&refused("file/x.jsonl"));
    expect!["cannot open the journal …/folder: it is a folder: name a file in it"]
        .assert_eq(&refused("folder"));
    expect!["cannot open the journal …/circle: Too many levels of symbolic links (os error 40)"]
        .assert_eq(&refused("circle"));
    expect!["cannot open the journal …/y.r3.jsonl: it is a rotated part of …/y.jsonl: name that file"]
        .assert_eq(&refused("y.r3.jsonl"));
}

#[test]
fn a_full_disk_breaks_the_journal_for_good_and_says_so_each_time() {
    let place = Place::new();
    symlink("/dev/full", place.path("x.jsonl")).unwrap();
    let journal = place.open("x.jsonl");
    for _ in 0..2 {
        let words = append(&*journal, &["a"]).unwrap_err().to_string();
        assert_eq!(words, "cannot write the journal /dev/full: No space left on device (os error 28)");
    }
    assert!(all(&*journal).is_empty());
    drop(journal);

    let journal = FileJournal::open(place.path("x.jsonl"), Durability::None).unwrap();
    append(&*journal, &["a"]).unwrap();
    assert!(journal.flush().is_err());
    assert!(append(&*journal, &["b"]).is_err());
}

#[test]
fn dev_null_is_a_journal_that_keeps_nothing() {
    let journal = FileJournal::open("/dev/null", Durability::Process).unwrap();
    append(&*journal, &["a"]).unwrap();
    assert!(all(&*journal).is_empty());
    journal.put_blob(b"large").unwrap();
    assert!(!Path::new("/dev/null.blobs").exists());
}

#[test]
fn a_blob_that_cannot_be_written_is_named() {
    let place = Place::new();
    let journal = place.open("x.jsonl");
    fs::write(place.path("x.jsonl.blobs"), "in the way").unwrap();
    let error = journal.put_blob(b"hello").unwrap_err();
    let why = "it is no folder, and the blobs of the journal must go into one of this name: move it away";
    assert_eq!(place.plain(error), format!("cannot write the journal …/x.jsonl.blobs: {why}"));
    let error = journal.blob(&BlobHash::of(b"hello")).unwrap_err();
    assert_eq!(place.plain(error), format!("cannot read the journal …/x.jsonl.blobs: {why}"));
    append(&*journal, &["a"]).unwrap();
}

#[test]
fn a_blob_is_written_once_and_a_damaged_one_is_not_given_out() {
    let place = Place::new();
    let journal = place.open("x.jsonl");
    let hash = journal.put_blob(b"hello").unwrap();
    let file = place.path("x.jsonl.blobs").join(hash.to_string());
    let written = fs::metadata(&file).unwrap().modified().unwrap();
    journal.put_blob(b"hello").unwrap();
    assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), written);
    assert_eq!(fs::read_dir(place.path("x.jsonl.blobs")).unwrap().count(), 1);

    fs::write(&file, "hellO").unwrap();
    expect!["cannot read the journal …/x.jsonl.blobs/2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824: the blob does not hold what its name says: the file was damaged or changed"]
        .assert_eq(&place.plain(journal.blob(&hash).unwrap_err()));
    // A file of the wrong length (after a loss of power) is written again.
    fs::write(&file, "").unwrap();
    journal.put_blob(b"hello").unwrap();
    assert_eq!(&journal.blob(&hash).unwrap()[..], b"hello");
}

#[test]
fn runtimes_of_one_process_share_a_writer_by_whatever_name() {
    let place = Place::new();
    fs::create_dir(place.path("sub")).unwrap();
    symlink(place.path("x.jsonl"), place.path("sub/link.jsonl")).unwrap();
    symlink(place.path("sub"), place.path("subs")).unwrap();
    // The link leads to nothing yet.
    let journal = place.open("sub/link.jsonl");
    for name in ["x.jsonl", "sub/../x.jsonl", "subs/link.jsonl"] {
        assert!(Arc::ptr_eq(&journal, &place.open(name)), "{name}");
    }
    assert_eq!(place.names(), ["sub", "subs", "x.jsonl"]);
    assert_eq!(place.plain(journal.location()), "…/x.jsonl");
}

#[test]
fn a_journal_can_be_dropped_and_opened_by_many_threads() {
    let place = Place::new();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    append(&*place.open("x.jsonl"), &["a"]).unwrap();
                }
            });
        }
    });
    // Never a sibling: our own lock is not another process's.
    assert_eq!(place.names(), ["x.jsonl"]);
    assert_eq!(all(&*place.open("x.jsonl")), (1..=200).collect::<Vec<u64>>());
}

#[test]
fn a_file_that_another_holds_is_left_to_it() {
    let place = Place::new();
    let theirs = claim::open(&place.path("x.jsonl")).unwrap();
    theirs.try_lock().unwrap();
    let journal = place.open("x.jsonl");
    append(&*journal, &["a"]).unwrap();
    assert_eq!(place.plain(journal.location()), "…/x-2.jsonl");
    theirs.unlock().unwrap();
    // Who must have the file itself gets it, or a refusal.
    let refuse = Options { when_taken: WhenTaken::Refuse, ..Options::default() };
    let itself = FileJournal::open_with(place.path("x.jsonl"), refuse).unwrap();
    assert_eq!(place.plain(itself.location()), "…/x.jsonl");
    drop(itself);
    theirs.try_lock().unwrap();
    let error = FileJournal::open_with(place.path("x.jsonl"), refuse).unwrap_err().to_string();
    let words = "x.jsonl: wait for it or stop it, then try again";
    assert!(error.starts_with("another process is writing") && error.ends_with(words), "{error}");
    theirs.unlock().unwrap();
    // Who has begun a sibling goes on with it.
    assert!(Arc::ptr_eq(&journal, &place.open("x.jsonl")));
    assert!(Arc::ptr_eq(&journal, &place.open("x-2.jsonl")));
    drop(journal);
    assert_eq!(place.plain(place.open("x.jsonl").location()), "…/x.jsonl");
    assert_eq!(families(&place.path("x.jsonl")).unwrap().len(), 2);
}

proptest::proptest! {
    /// Wherever a crash cuts a file, the whole lines before stay, and the numbers go on behind them.
    #[test]
    fn a_file_cut_anywhere_goes_on_behind_its_last_whole_line(
        sizes in proptest::collection::vec(0usize..60_000, 1..6),
        cut in 0.0..1.0f64,
    ) {
        let place = Place::new();
        let journal = place.open("x.jsonl");
        for size in &sizes {
            append(&*journal, &[&"x".repeat(*size)]).unwrap();
        }
        drop(journal);
        let text = place.text("x.jsonl");
        let cut = (text.len() as f64 * cut) as usize;
        fs::write(place.path("x.jsonl"), &text[..cut]).unwrap();

        let whole = text[..cut].matches('\n').count() as u64;
        let journal = place.open("x.jsonl");
        proptest::prop_assert_eq!(journal.torn().is_some(), cut > 0 && !text[..cut].ends_with('\n'));
        append(&*journal, &["next"]).unwrap();
        proptest::prop_assert_eq!(all(&*journal), (1..=whole + 1).collect::<Vec<u64>>());
    }
}

mod others;
mod rotation;

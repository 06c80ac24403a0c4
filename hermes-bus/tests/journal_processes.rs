//! Several processes on one journal: this test binary runs itself, to hold a file, to be killed, to fill a disk.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use chrono::DateTime;
use hermes_bus::journal::{
    Batch, Durability, FileJournal, Journal, JournalError, Line, Options, families, family, read_family,
};

/// Where the child journals. Its presence makes [`child`] one.
const JOURNAL: &str = "HERMES_TEST_JOURNAL";

fn append(journal: &dyn Journal, lines: usize) -> Result<u64, JournalError> {
    let mut batch = Batch::new(DateTime::UNIX_EPOCH);
    for _ in 0..lines {
        batch.push(Line { tail: b"\"id\":\"x\"}".to_vec(), late: false, begun: false });
    }
    journal.append(&mut batch)?;
    Ok(batch.records().last().map_or(0, |record| record.seq))
}

/// A child that opens, appends a little and closes again, many times.
#[test]
fn coming_and_going() {
    let Some(path) = std::env::var_os(JOURNAL) else { return };
    for _ in 0..60 {
        let journal =
            FileJournal::open_with(&path, Options { rotate_at: 500, ..Options::default() }).unwrap();
        for _ in 0..5 {
            append(&*journal, 2).unwrap();
        }
    }
}

/// What a child does: says where it writes, then appends until it is killed or cannot, and says each last number.
#[test]
fn child() {
    let Some(path) = std::env::var_os(JOURNAL) else { return };
    let options = Options { rotate_at: 20_000, ..Options::default() };
    let journal = FileJournal::open_with(path, options).unwrap();
    println!("\nat {}", journal.location());
    loop {
        match append(&*journal, 3) {
            Ok(last) => println!("last {last}"),
            Err(error) => {
                println!("error {error}");
                println!("again {}", append(&*journal, 3).unwrap_err());
                return;
            }
        }
    }
}

struct Running {
    child: Child,
    said: BufReader<std::process::ChildStdout>,
}

impl Running {
    fn start(mut command: Command, path: &Path) -> Self {
        command.env(JOURNAL, path).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let said = BufReader::new(child.stdout.take().unwrap());
        Self { child, said }
    }

    /// The rest of the next line that begins with `word`.
    fn wait_for(&mut self, word: &str) -> String {
        loop {
            let mut line = String::new();
            assert!(self.said.read_line(&mut line).unwrap() > 0, "the child ended without saying `{word}`");
            if let Some(rest) = line.strip_prefix(word) {
                return rest.trim().to_owned();
            }
        }
    }

    /// `kill -9`; the last number that was acknowledged before it.
    fn kill(mut self) -> u64 {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let mut rest = String::new();
        self.said.read_to_string(&mut rest).unwrap();
        // The last line may be cut short.
        let whole = rest.rfind('\n').map_or("", |at| &rest[..at]);
        whole
            .lines()
            .rev()
            .find_map(|line| line.strip_prefix("last "))
            .map_or(0, |last| last.parse().unwrap())
    }
}

/// This binary as a process that runs one test.
fn myself(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]);
    command
}

fn on_disk(path: &Path) -> (Vec<u64>, Vec<PathBuf>) {
    let files = family(path).unwrap();
    let found = read_family(&files).unwrap();
    (found.records.iter().map(|record| record.seq).collect(), files)
}

#[test]
fn a_second_process_writes_a_sibling_and_readers_list_both() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap().join("x.jsonl");
    let journal = FileJournal::open(&path, Durability::Process).unwrap();
    append(&*journal, 1).unwrap();

    let mut other = Running::start(myself("child"), &path);
    assert_eq!(
        other.wait_for("at "),
        folder.path().canonicalize().unwrap().join("x-2.jsonl").display().to_string()
    );
    let mut third = Running::start(myself("child"), &path);
    assert!(third.wait_for("at ").ends_with("x-3.jsonl"));
    other.wait_for("last ");
    other.kill();
    third.kill();

    let heads = families(&path).unwrap();
    let names: Vec<_> = heads.iter().map(|head| head.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["x.jsonl", "x-2.jsonl", "x-3.jsonl"]);
    assert_eq!(on_disk(&path).0, [1]);
}

#[test]
fn what_a_killed_process_acknowledged_is_on_disk_and_numbers_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.jsonl");
    let mut last = 0;
    for _ in 0..5 {
        let mut running = Running::start(myself("child"), &path);
        assert!(running.wait_for("at ").ends_with("x.jsonl"), "the lock of a killed process is gone");
        for _ in 0..100 {
            running.wait_for("last ");
        }
        let acknowledged = running.kill();
        let (numbers, _) = on_disk(&path);
        let written = numbers.len() as u64;
        assert_eq!(numbers, (1..=written).collect::<Vec<u64>>());
        assert!(written >= acknowledged && written >= last + 300, "{written} {acknowledged} {last}");
        last = written;
    }
    let journal = FileJournal::open(&path, Durability::Process).unwrap();
    assert_eq!(append(&*journal, 1).unwrap(), last + 1);
    assert!(on_disk(&path).1.len() > 2, "it was rotated on the way");
}

#[test]
fn processes_that_come_and_go_never_write_one_file_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.jsonl");
    let children = [(); 3].map(|()| Running::start(myself("coming_and_going"), &path));
    for mut running in children {
        let mut said = String::new();
        running.said.read_to_string(&mut said).unwrap();
        assert!(running.child.wait().unwrap().success(), "{said}");
    }
    let mut count = 0;
    for head in families(&path).unwrap() {
        let (numbers, _) = on_disk(&head);
        assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<u64>>(), "{}", head.display());
        count += numbers.len();
    }
    assert_eq!(count, 3 * 60 * 10, "nothing is lost");
}

#[test]
fn a_write_that_is_cut_short_is_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.jsonl");
    // A file may have 8 blocks: the write that crosses them comes back short, as on a disk that fills up.
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" --exact child --nocapture"]);
    shell.arg(std::env::current_exe().unwrap());
    let mut running = Running::start(shell, &path);
    let error = running.wait_for("error ");
    assert!(error.ends_with("x.jsonl: File too large (os error 27)"), "{error}");
    assert_eq!(running.wait_for("again "), error);
    running.child.wait().unwrap();

    let found = read_family(&family(&path).unwrap()).unwrap();
    assert_eq!(found.torn, None);
    assert_eq!(found.records.len() % 3, 0, "no part of a batch stays");
    let size = File::open(&path).unwrap().metadata().unwrap().len();
    assert!((3_000..=8_192).contains(&size), "{size}");
}

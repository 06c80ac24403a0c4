//! What any [`Journal`] must do, as a suite that a stranger's implementation runs in its own tests.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::journal::{Batch, BlobHash, Journal, JournalError, Line, Record};

/// Checks a journal that `fresh` makes: empty, another one each time.
///
/// ```
/// use std::sync::Arc;
/// use hermes_bus::{conformance, journal::MemoryJournal};
///
/// conformance::check(|| Arc::new(MemoryJournal::new()));
/// ```
///
/// # Panics
/// With what it does wrong, in words.
pub fn check(fresh: impl Fn() -> Arc<dyn Journal>) {
    numbers_begin_at_one_and_follow_each_other(&*fresh());
    lines_are_kept_as_they_were_rendered(&*fresh());
    pages_follow_each_other(&*fresh());
    an_empty_batch_is_nothing(&*fresh());
    blobs_are_found_by_their_hash(&*fresh());
    appends_of_many_threads_do_not_mix(fresh());
}

/// Checks that a journal outlives its handle: each call of `open` opens the same journal, which is empty at first.
/// The handle before is always dropped by then.
///
/// ```
/// use hermes_bus::{conformance, journal::{Durability, FileJournal}};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("trace.jsonl");
/// conformance::check_reopening(|| FileJournal::open(&path, Durability::Process).unwrap());
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Panics
/// With what it does wrong, in words.
pub fn check_reopening(open: impl Fn() -> Arc<dyn Journal>) {
    let mut kept = Vec::new();
    let mut hash = None;
    for life in 0..3 {
        let journal = open();
        assert_eq!(all(&*journal), kept, "what was appended must be there when it is opened again");
        if let Some(hash) = &hash {
            let blob = done("blob", journal.blob(hash));
            assert_eq!(&blob[..], b"kept", "a blob must be there when the journal is opened again");
        }
        hash = Some(done("put_blob", journal.put_blob(b"kept")));
        for _ in 0..5 {
            kept.extend(append(&*journal, &[&format!("life {life}"), "second"]));
        }
    }
    let numbers: Vec<u64> = kept.iter().map(|record| record.seq).collect();
    assert_eq!(numbers, (1..=30).collect::<Vec<u64>>(), "numbers must go on where they ended");
}

fn numbers_begin_at_one_and_follow_each_other(journal: &dyn Journal) {
    assert_eq!(all(journal), [], "a fresh journal must be empty");
    assert_eq!(done("last", journal.last()), 0, "nothing has been numbered");
    let first = append(journal, &["a"]);
    let second = append(journal, &["b", "c"]);
    let numbers: Vec<u64> = first.iter().chain(&second).map(|record| record.seq).collect();
    assert_eq!(done("last", journal.last()), 3, "last must be the highest number given");
    assert_eq!(numbers, [1, 2, 3], "the batches' records must have the numbers 1, 2, 3");
    assert!(!journal.location().is_empty(), "location must say where the journal is");
}

fn lines_are_kept_as_they_were_rendered(journal: &dyn Journal) {
    let long = "长".repeat(100_000);
    let mut batch = Batch::new(now());
    for (text, late, begun) in [("plain", false, false), ("天气 \\n \\\"", true, true), (&long, false, true)]
    {
        batch.push(Line { tail: tail(text), late, begun });
    }
    done("append", journal.append(&mut batch));
    assert_eq!(batch.records().len(), 3, "append must render the batch: its records are what is delivered");
    assert_eq!(all(journal), batch.records(), "read must give the very lines that were rendered");
}

fn pages_follow_each_other(journal: &dyn Journal) {
    let mut kept = Vec::new();
    for n in 0..400 {
        kept.extend(append(journal, &[&n.to_string(), "and", "more"]));
    }
    for (after, limit) in [(0, 1), (0, 7), (1, 1), (255, 2), (256, 300), (1_198, 10), (1_199, 1), (600, 0)] {
        let from = usize::try_from(after).unwrap_or(usize::MAX);
        let wanted: Vec<Record> = kept[from..].iter().take(limit).cloned().collect();
        let page = done("read", journal.read(after, limit));
        assert!(page == wanted, "read({after}, {limit}) gave {:?}", numbers(&page));
    }
    for after in [1_200, 1_201, u64::MAX] {
        assert_eq!(done("read", journal.read(after, 5)), [], "read({after}, 5) is behind the end");
    }
    let mut paged = Vec::new();
    loop {
        let after = paged.last().map_or(0, |record: &Record| record.seq);
        let page = done("read", journal.read(after, 97));
        if page.is_empty() {
            break;
        }
        paged.extend(page);
    }
    assert!(paged == kept, "reading page after page must give everything once: {:?}", numbers(&paged));
}

fn an_empty_batch_is_nothing(journal: &dyn Journal) {
    append(journal, &[]);
    append(journal, &["a"]);
    append(journal, &[]);
    done("flush", journal.flush());
    assert_eq!(numbers(&all(journal)), [1], "an empty batch must use no number");
}

fn blobs_are_found_by_their_hash(journal: &dyn Journal) {
    for bytes in [&b""[..], b"small", &[0xff; 300_000]] {
        for _ in 0..2 {
            let hash = done("put_blob", journal.put_blob(bytes));
            assert_eq!(hash, BlobHash::of(bytes), "put_blob must return the SHA-256");
            assert!(done("blob", journal.blob(&hash)) == bytes, "blob must return the bytes that were put");
        }
    }
    let absent = journal.blob(&BlobHash::of(b"never put"));
    assert!(
        matches!(absent, Err(JournalError::NoBlob { .. })),
        "a blob that was never put must be NoBlob, not {absent:?}"
    );
    assert_eq!(all(journal), [], "a blob must not be a line");
}

/// Four threads, each with batches of three lines; one reads at the same time.
fn appends_of_many_threads_do_not_mix(journal: Arc<dyn Journal>) {
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let journal = &*journal;
            scope.spawn(move || {
                for n in 0..50 {
                    let name = format!("{thread} {n:02}");
                    append(journal, &[&format!("{name} a"), &format!("{name} b"), &format!("{name} c")]);
                }
            });
        }
        scope.spawn(|| {
            while all(&*journal).len() < 600 {
                std::thread::yield_now();
            }
        });
    });
    let records = all(&*journal);
    assert_eq!(numbers(&records), (1..=600).collect::<Vec<u64>>(), "numbers must have no gap and no double");
    let ids: Vec<String> = records.iter().map(id).collect();
    for batch in ids.chunks(3) {
        let name = batch[0].trim_end_matches(" a");
        let whole = [format!("{name} a"), format!("{name} b"), format!("{name} c")];
        assert_eq!(batch, whole, "the lines of a batch must stand together");
    }
    for thread in ["0 ", "1 ", "2 ", "3 "] {
        let own: Vec<&String> = ids.iter().filter(|id| id.starts_with(thread)).collect();
        assert!(own.is_sorted(), "the batches of one thread must stand in the order it appended them");
    }
}

fn append(journal: &dyn Journal, ids: &[&str]) -> Vec<Record> {
    let mut batch = Batch::new(now());
    for id in ids {
        batch.push(Line { tail: tail(id), late: false, begun: false });
    }
    done("append", journal.append(&mut batch));
    assert_eq!(
        batch.records().len(),
        ids.len(),
        "append must render the batch: its records are what is delivered"
    );
    batch.records()
}

fn tail(id: &str) -> Vec<u8> {
    format!("\"id\":\"{id}\"}}").into_bytes()
}

/// The id in a line that [`append`] wrote.
fn id(record: &Record) -> String {
    let line = String::from_utf8_lossy(&record.line);
    let id = line.rsplit_once("\"id\":\"").map_or("", |(_, id)| id);
    id.trim_end_matches("\"}").to_owned()
}

fn all(journal: &dyn Journal) -> Vec<Record> {
    done("read", journal.read(0, usize::MAX))
}

fn numbers(records: &[Record]) -> Vec<u64> {
    records.iter().map(|record| record.seq).collect()
}

fn done<T>(what: &str, result: Result<T, JournalError>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("{what} failed: {error}"),
    }
}

fn now() -> DateTime<Utc> {
    DateTime::UNIX_EPOCH
}

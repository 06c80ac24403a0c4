//! Tests of rotation: one numbering over many files, and a rotation that a crash cut short.

use super::*;

fn small(place: &Place) -> Arc<FileJournal> {
    let options = Options { rotate_at: 200, ..Options::default() };
    FileJournal::open_with(place.path("x.jsonl"), options).unwrap()
}

/// Ten records in three full files and the current one.
fn rotated(place: &Place) -> Arc<FileJournal> {
    let journal = small(place);
    for n in 0..14 {
        append(&*journal, &[&n.to_string()]).unwrap();
    }
    assert_eq!(place.names(), ["x.jsonl", "x.r1.jsonl", "x.r2.jsonl", "x.r3.jsonl"]);
    journal
}

#[test]
fn a_family_has_one_numbering_and_one_blob_folder() {
    let place = Place::new();
    let journal = rotated(&place);
    let hash = journal.put_blob(b"kept").unwrap();
    assert_eq!(all(&*journal), (1..=14).collect::<Vec<u64>>());
    drop(journal);
    let journal = small(&place);
    append(&*journal, &["again"]).unwrap();
    assert_eq!(all(&*journal), (1..=15).collect::<Vec<u64>>());
    assert_eq!(&journal.blob(&hash).unwrap()[..], b"kept");
}

#[test]
fn every_page_of_a_family_can_be_read() {
    let place = Place::new();
    let written_here = rotated(&place);
    for reopened in [false, true] {
        let journal = if reopened { small(&place) } else { written_here.clone() };
        for after in 0..16 {
            for limit in [0, 1, 3, 20] {
                let wanted: Vec<u64> = (after + 1..=14).take(limit).collect();
                assert_eq!(numbers(&journal.read(after, limit).unwrap()), wanted, "{after} {limit}");
            }
        }
    }
}

#[test]
fn the_last_number_is_found_behind_an_empty_file() {
    let place = Place::new();
    drop(rotated(&place));
    fs::write(place.path("x.jsonl"), "{\"v\":1,\"torn").unwrap();
    let journal = small(&place);
    append(&*journal, &["next"]).unwrap();
    assert_eq!(all(&*journal), (1..=13).collect::<Vec<u64>>());
}

#[test]
fn a_rotation_cut_short_is_undone() {
    let place = Place::new();
    drop(rotated(&place));
    // As after a crash between the second name and the new file under the first.
    fs::hard_link(place.path("x.jsonl"), place.path("x.r4.jsonl")).unwrap();
    fs::write(place.path("x.jsonl.new"), "").unwrap();
    let before = read_family(&family::family(&place.path("x.jsonl")).unwrap()).unwrap();
    assert_eq!(numbers(&before.records), (1..=14).collect::<Vec<u64>>());

    let journal = small(&place);
    assert_eq!(all(&*journal), (1..=14).collect::<Vec<u64>>());
    assert_eq!(place.names(), ["x.jsonl", "x.r1.jsonl", "x.r2.jsonl", "x.r3.jsonl"]);
}

#[test]
fn where_rotation_cannot_be_the_file_grows_on() {
    let place = Place::new();
    let journal = small(&place);
    fs::create_dir(place.path("x.jsonl.new")).unwrap();
    for n in 0..9 {
        append(&*journal, &[&n.to_string()]).unwrap();
    }
    assert_eq!(place.names(), ["x.jsonl", "x.jsonl.new"]);
    fs::remove_dir(place.path("x.jsonl.new")).unwrap();
    for n in 9..20 {
        append(&*journal, &[&n.to_string()]).unwrap();
    }
    assert_eq!(all(&*journal), (1..=20).collect::<Vec<u64>>());
    assert!(place.path("x.r1.jsonl").exists());
}

#[test]
fn a_reader_without_the_lock_sees_the_whole_family_and_the_torn_end() {
    let place = Place::new();
    let writer = rotated(&place);
    let reader = ReadOnlyJournal::open(place.path("x.jsonl")).unwrap();
    assert_eq!(numbers(&reader.read(3, 6).unwrap()), [4, 5, 6, 7, 8, 9]);
    append(&*writer, &["new"]).unwrap();
    assert_eq!(numbers(&reader.read(14, 6).unwrap()), [15]);
    let hash = writer.put_blob(b"kept").unwrap();
    assert_eq!(&reader.blob(&hash).unwrap()[..], b"kept");
    assert!(append(&reader, &["x"]).is_err());

    drop(writer);
    let whole = place.text("x.jsonl");
    fs::write(place.path("x.jsonl"), format!("{whole}{{\"v\":1,")).unwrap();
    let found = read_family(&family::family(&place.path("x.jsonl")).unwrap()).unwrap();
    assert_eq!(numbers(&found.records), (1..=15).collect::<Vec<u64>>());
    assert_eq!(found.torn.unwrap().bytes, 7);
    assert_eq!(numbers(&reader.read(14, 6).unwrap()), [15]);
}

//! Tests of blobs in payloads: what is moved out, what is escaped, and that all comes back.

use expect_test::expect;
use proptest::prelude::*;

use super::*;
use crate::journal::MemoryJournal;

fn out(text: &str, journal: &dyn Journal) -> String {
    let mut buffer = b"head:".to_vec();
    buffer.extend_from_slice(text.as_bytes());
    externalise(&mut buffer, 5, journal).unwrap();
    assert!(buffer.starts_with(b"head:"));
    String::from_utf8(buffer[5..].to_vec()).unwrap()
}

fn back(text: &str, journal: &dyn Journal) -> String {
    let raw = RawValue::from_string(text.to_owned()).unwrap();
    inline(&raw, journal).unwrap().get().to_owned()
}

#[test]
fn a_large_string_becomes_a_reference() {
    let journal = MemoryJournal::new();
    let text = format!(r#"{{"small":1,"shown":{:?},"last":[1e400]}}"#, "长x".repeat(10_000));
    let line = out(&text, &journal);
    expect![[r#"{"small":1,"shown":{"$blob":"b536c27db218ddb65d7a7bf94ab3531cea38e29652c551ceb79c394a41b44003","bytes":40000,"head":"…"},"last":[1e400]}"#]]
        .assert_eq(&line.replace(&"长x".repeat(100), "…"));
    assert_eq!(back(&line, &journal), text);
}

#[test]
fn the_threshold_counts_bytes_of_the_string_not_of_its_escapes() {
    let journal = MemoryJournal::new();
    let at = |n: usize| format!(r#"{{"a":"{}"}}"#, r"\n".repeat(n));
    assert_eq!(out(&at(BLOB_THRESHOLD), &journal), at(BLOB_THRESHOLD));
    assert!(out(&at(BLOB_THRESHOLD + 1), &journal).contains("$blob"));
}

#[test]
fn a_users_key_is_escaped_however_it_is_written() {
    let journal = MemoryJournal::new();
    for (text, line, again) in [
        (r#"{"$blob":1}"#, r#"{"$$blob":1}"#, r#"{"$blob":1}"#),
        (
            r#"{"$$$blob" : {"$blob":"x"}}"#,
            r#"{"$$$$blob" : {"$$blob":"x"}}"#,
            r#"{"$$$blob" : {"$blob":"x"}}"#,
        ),
        (r#"{"\u0024bl\u006Fb":1}"#, r#"{"$$blob":1}"#, r#"{"$blob":1}"#),
        (r#"{"blob":1,"a$blob":2}"#, r#"{"blob":1,"a$blob":2}"#, r#"{"blob":1,"a$blob":2}"#),
        (
            r#"{"a":"$blob","b":["$blob"]}"#,
            r#"{"a":"$blob","b":["$blob"]}"#,
            r#"{"a":"$blob","b":["$blob"]}"#,
        ),
    ] {
        assert_eq!(out(text, &journal), line);
        assert_eq!(back(line, &journal), again);
    }
}

#[test]
fn numbers_order_and_lone_surrogates_stay_as_they_are_written() {
    let journal = MemoryJournal::new();
    let lone = format!(r#""\ud800{}""#, "x".repeat(BLOB_THRESHOLD));
    let text = format!(r#"{{"z":12345678901234567890123,"a":-0.10e-400,"$blob":[1.0,1.00],"lone":{lone}}}"#);
    assert_eq!(out(&text, &journal), text.replace("$blob", "$$blob"));
    assert_eq!(back(&out(&text, &journal), &journal), text);
}

#[test]
fn a_pretty_payload_is_put_on_one_line() {
    let journal = MemoryJournal::new();
    assert_eq!(
        out("{\r\n  \"a\": \"x\\ny\",\n  \"b\": [\n1,\n2]\n}", &journal),
        r#"{  "a": "x\ny",  "b": [1,2]}"#
    );
}

#[test]
fn what_cannot_be_put_back_is_named() {
    let journal = MemoryJournal::new();
    let error = |text: &str| {
        let raw = RawValue::from_string(text.to_owned()).unwrap();
        inline(&raw, &journal).unwrap_err().to_string()
    };
    let hash = BlobHash::of(b"never kept");
    expect!["the journal memory names the blob 68266d89225c80278ea2387e673c4f12d9922929bc4ee7b2ae23fccfa4c64e6b, which is not there"]
        .assert_eq(&error(&format!(r#"{{"$blob":"{hash}","bytes":10,"head":""}}"#)));
    expect![[r#"the journal memory cannot be understood: line "{\"$blob\":7}]}" is no envelope: invalid type: integer `7`, expected a string at line 1 column 10"#]].assert_eq(&error(r#"{"a":[{"$blob":7}]}"#));
    let kept = journal.put_blob(b"four").unwrap();
    expect![[r#"the journal memory cannot be understood: line "{\"$blob\":\"04efaf080f5a3e74e1c29d1ca6a48569382cbbcd324e8d59d2b83ef21c039f00\",\"byt" is no envelope: the blob 04efaf080f5a3e74e1c29d1ca6a48569382cbbcd324e8d59d2b83ef21c039f00 is not the text of 5 bytes it should be"#]].assert_eq(&error(&format!(r#"{{"$blob":"{kept}","bytes":5,"head":""}}"#)));
}

/// JSON as serde_json writes it, with the keys and lengths that matter here.
fn payloads() -> impl Strategy<Value = serde_json::Value> {
    let large = (0usize..4).prop_map(|n| "长\n\"".repeat(BLOB_THRESHOLD / 5 - 1 + n));
    let text = prop_oneof![8 => "\\PC{0,12}", 2 => "\\$+blob", 1 => large];
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        text.prop_map(serde_json::Value::String),
    ];
    let key = prop_oneof!["\\$*blob", "\\PC{0,6}", Just("bytes".to_owned())];
    leaf.prop_recursive(5, 24, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::Array),
            proptest::collection::vec((key.clone(), inner), 0..4)
                .prop_map(|fields| serde_json::Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_moved_out_comes_back_to_the_byte(payload in payloads()) {
        let journal = MemoryJournal::new();
        let text = payload.to_string();
        let line = out(&text, &journal);
        prop_assert!(line.len() <= text.len() + 400 * 24);
        prop_assert_eq!(back(&line, &journal), text);
    }
}

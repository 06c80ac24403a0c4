//! Characters whose two escapes are cut apart, or of which only one comes.

use proptest::prelude::*;
use serde_json::json;

use super::super::read_whole;
use super::streams::{DONE, chunk, read, reply, stop};
use crate::{Delta, ToolCall};

/// A chunk whose delta is this JSON.
fn said(delta: &str) -> String {
    format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{delta}}}]}}\n\n")
}

fn text(units: &[u16]) -> String {
    let escapes: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
    said(&format!("{{\"content\":\"{escapes}\"}}"))
}

#[test]
fn a_character_cut_between_two_chunks_is_joined() {
    let stream = [
        said(r#"{"content":"x\ud83d"}"#),
        said(r#"{"content":""}"#),
        said(r#"{"content":"\ude00y\\ud83d"}"#),
        stop("stop"),
    ];
    let (reply, told) = read(&stream.concat());
    assert_eq!(reply.unwrap().message.text().as_deref(), Some("x😀y\\ud83d"));
    assert_eq!(told, ["x", "😀y\\ud83d"].map(|text| Delta::Text(text.into())));
}

#[test]
fn halves_are_joined_in_each_text_by_itself() {
    let call = |index: u8, arguments: &str| {
        said(&format!(
            r#"{{"tool_calls":[{{"index":{index},"id":"{index}","function":{{"name":"f","arguments":"{arguments}"}}}}]}}"#
        ))
    };
    let stream = [
        said(r#"{"reasoning":"\ud83d","reasoning_content":"\ud83d"}"#),
        said(r#"{"reasoning":"\ude01","reasoning_content":"\ude01","content":"\ud83d"}"#),
        call(0, r"a\ud83c"),
        call(1, r"b\ud83d"),
        call(0, r"\udf1e"),
        call(1, r"\ude80"),
        said(r#"{"content":"\ude02"}"#),
        stop("tool_calls"),
        DONE.into(),
    ];
    let message = reply(&stream.concat()).message;
    assert_eq!(message.text().as_deref(), Some("😂"));
    assert_eq!(message.tool_calls, [ToolCall::new("0", "f", "a🌞"), ToolCall::new("1", "f", "b🚀")]);
    assert_eq!(json!(message.extra), json!({"reasoning": "😁", "reasoning_content": "😁"}));
}

#[test]
fn a_half_alone_is_a_replacement_character() {
    for (chunks, expected) in [
        (vec![said(r#"{"content":"a\ud83db\ude00"}"#)], "a\u{FFFD}b\u{FFFD}"),
        (vec![said(r#"{"content":"a\ud83d"}"#), chunk(json!({"content": "b"}))], "a\u{FFFD}b"),
        (vec![said(r#"{"content":"a\ud83d"}"#)], "a\u{FFFD}"),
        (
            vec![said("{\"content\":\"\\ude00\u{10ffff}\\uDBFF\\uDFFF\u{1000}\"}")],
            "\u{FFFD}\u{10FFFF}\u{10FFFF}\u{1000}",
        ),
        (vec![said(r#"{"content":"a","n\ude00":["\udbff"]}"#)], "a"),
    ] {
        let stream = format!("{}{}", chunks.concat(), stop("stop"));
        assert_eq!(reply(&stream).message.text().as_deref(), Some(expected), "{stream}");
    }
    let call = said(r#"{"tool_calls":[{"id":"c","function":{"name":"f","arguments":"\ud83d"}}]}"#);
    let calls = reply(&format!("{call}{}", stop("tool_calls"))).message.tool_calls;
    assert_eq!(calls, [ToolCall::new("c", "f", "\u{FFFD}")]);

    let whole = br#"{"choices":[{"message":{"content":"\ud83d\ude00 \ud83d","n":"\ude00"}}]}"#;
    assert_eq!(read_whole(whole).unwrap().message.text().as_deref(), Some("😀 \u{FFFD}"));
}

#[test]
fn cut_off_json_is_broken_whatever_it_holds() {
    let stream = r#"data: {"choices":[{"delta":{"content":"x\ud83d"}"#;
    assert!(matches!(read(stream).0, Err(super::super::Unread::Broken)));
}

/// Units of UTF-16, half of them surrogates.
fn unit() -> impl Strategy<Value = u16> {
    prop_oneof![0xD800..=0xDBFFu16, 0xDC00..=0xDFFFu16, any::<u16>()]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_units_in_any_pieces_are_the_text_of_them_all(
        pieces in prop::collection::vec(prop::collection::vec(unit(), 0..5), 1..8),
    ) {
        let chunks: String = pieces.iter().map(|units| text(units)).collect();
        let (reply, told) = read(&format!("{chunks}{}", stop("stop")));
        let expected = String::from_utf16_lossy(&pieces.concat());
        let reply = reply.unwrap();
        prop_assert_eq!(reply.message.text().unwrap(), expected.as_str());
        let told: String = told.into_iter().map(|delta| match delta {
            Delta::Text(text) => text,
            other => panic!("{other:?}"),
        }).collect();
        prop_assert_eq!(told, expected);
    }
}

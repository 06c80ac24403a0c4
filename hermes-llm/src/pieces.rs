//! A whole reply cut into the pieces in which a model might have told it.

use crate::{ChatMessage, Delta};

/// How many characters of a script without spaces make a piece.
const FEW: usize = 4;

/// The message in pieces: the thoughts, then the text, cut before words and between characters of scripts without
/// spaces; then each call, its arguments in two parts. Joined they are what the message says.
pub(crate) fn pieces(message: &ChatMessage) -> Vec<Delta> {
    let thoughts =
        ["reasoning_content", "reasoning"].into_iter().find_map(|key| message.extra.get(key)?.as_str());
    let text = message.text().unwrap_or_default();
    let mut pieces: Vec<_> = cut(thoughts.unwrap_or_default()).map(Delta::Reasoning).collect();
    pieces.extend(cut(&text).map(Delta::Text));
    for (index, call) in message.tool_calls.iter().enumerate() {
        let middle = call.arguments.char_indices().nth(call.arguments.chars().count() / 2);
        let (begun, rest) = call.arguments.split_at(middle.map_or(0, |(at, _)| at));
        let part = |name: &str, arguments: &str| Delta::ToolCall {
            index,
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        };
        pieces.extend([part(&call.name, begun), part("", rest)]);
    }
    pieces
}

fn cut(text: &str) -> impl Iterator<Item = String> {
    let mut pieces: Vec<String> = Vec::new();
    for character in text.chars() {
        match pieces.last_mut() {
            Some(piece) if !begins_a_piece(piece, character) => piece.push(character),
            _ => pieces.push(character.into()),
        }
    }
    pieces.into_iter()
}

fn begins_a_piece(piece: &str, next: char) -> bool {
    let after_space = piece.ends_with(char::is_whitespace) && !next.is_whitespace();
    after_space || (is_written_without_spaces(next) && piece.chars().count() >= FEW)
}

/// Chinese, Japanese and Korean characters and their punctuation.
fn is_written_without_spaces(character: char) -> bool {
    matches!(character,
        '\u{2E80}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}' | '\u{F900}'..='\u{FAFF}' | '\u{FF00}'..='\u{FFEF}'
        | '\u{20000}'..='\u{3FFFF}')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ToolCall;

    fn text(text: &str) -> Vec<String> {
        cut(text).collect()
    }

    #[test]
    fn a_text_is_cut_at_words_and_after_a_few_characters() {
        assert_eq!(text("Sunny,  22 degrees."), ["Sunny,  ", "22 ", "degrees."]);
        assert_eq!(text("北京今天晴，适合出门。"), ["北京今天", "晴，适合", "出门。"]);
        assert_eq!(text("👩‍👩‍👧 ok"), ["👩‍👩‍👧 ", "ok"]);
        assert_eq!(text("שלום עולם"), ["שלום ", "עולם"]);
        assert!(text("").is_empty());
    }

    #[test]
    fn thoughts_come_first_and_arguments_in_two_parts() {
        let mut message = ChatMessage::assistant("ok");
        message.extra.insert("reasoning".into(), json!("hm"));
        message.tool_calls = vec![ToolCall::new("1", "f", r#"{"城":1}"#), ToolCall::new("2", "g", "")];
        let call = |index, name: &str, arguments: &str| Delta::ToolCall {
            index,
            name: name.into(),
            arguments: arguments.into(),
        };
        assert_eq!(
            pieces(&message),
            [
                Delta::Reasoning("hm".into()),
                Delta::Text("ok".into()),
                call(0, "f", r#"{"城"#),
                call(0, "", r#"":1}"#),
                call(1, "g", ""),
                call(1, "", ""),
            ]
        );
    }
}

//! Text without what could steer a terminal.

use std::fmt::Write;

/// The text as a terminal may get it, for models, servers and the makers of files wrote it: a blank for every control
/// character other than line feed and tab, and nothing for what cannot be seen but changes what is.
pub fn harmless(text: &str) -> String {
    text.chars()
        .filter(|c| !is_invisible(*c))
        .map(|c| if is_control(c) && c != '\n' && c != '\t' { ' ' } else { c })
        .collect()
}

/// JSON that means the same, with what [`harmless`] takes out written as `\u....`.
pub fn harmless_json(json: &str) -> String {
    let mut harmless = String::with_capacity(json.len());
    for c in json.chars() {
        // Outside of strings there is none of these, except white space, which JSON escapes within them.
        if is_invisible(c) || (is_control(c) && !c.is_ascii_whitespace()) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string does not fail.
                let _ = write!(harmless, "\\u{unit:04x}");
            }
        } else {
            harmless.push(c);
        }
    }
    harmless
}

/// Controls of both ASCII and Latin-1, and the two separators of lines and paragraphs.
fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

/// What turns the direction of text around, or has no width: the tag characters among it, in which a whole text can hide.
/// Not the two joiners (U+200C, U+200D): Persian, the scripts of India and many an emoji are misspelt without them.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// The beginning of a text, on one line: at most so many characters, the last one `…` when more follow.
pub fn clip(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_taken_out() {
        assert_eq!(harmless("a\x1b[31m\u{9b}\x7fb\r\n\t北京🙂"), "a [31m  b \n\t北京🙂");
    }

    #[test]
    fn what_cannot_be_seen_is_taken_out_and_joiners_stay() {
        assert_eq!(
            harmless(
                "a\u{202e}\u{61c}b\u{2066}\u{2060}\u{e0001}\u{e0041}\u{e007f}c\u{200b}d\u{200f}e\u{feff}f\u{2028}g"
            ),
            "abcdef g"
        );
        assert_eq!(harmless("👩\u{200d}💻 می\u{200c}خواهم שלום"), "👩\u{200d}💻 می\u{200c}خواهم שלום");
    }

    #[test]
    fn json_keeps_its_meaning_and_steers_nothing() {
        let text = "a\x1b\x7f\u{9b}\u{202e}\u{2028}\u{feff}\u{61c}\u{e0041}\n\t北京👩\u{200d}💻\\";
        let json = harmless_json(&serde_json::json!({"text": text}).to_string());
        assert_eq!(
            json,
            "{\"text\":\"a\\u001b\\u007f\\u009b\\u202e\\u2028\\ufeff\\u061c\\udb40\\udc41\\n\\t北京👩\u{200d}💻\\\\\"}"
        );
        assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap()["text"], text);
    }

    #[test]
    fn a_long_text_is_clipped_between_characters() {
        assert_eq!(
            (clip("北京天气", 4), clip("北京天气", 3), clip("", 3)),
            ("北京天气".into(), "北京…".into(), "".into())
        );
    }
}

//! Finds the strings in a JSON text without parsing the rest, so that numbers and order stay as they are written.

/// One string of a JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    /// Where its opening quote stands.
    pub start: usize,
    /// Just behind its closing quote.
    pub end: usize,
    /// Whether it is the key of an object (a colon follows).
    pub is_key: bool,
    /// Whether it holds a backslash.
    pub escaped: bool,
}

/// The first string that begins at or behind `from`. None when there is none, or it has no end (then the text is
/// no JSON).
pub(super) fn next_string(text: &[u8], from: usize) -> Option<Found> {
    let start = from + text.get(from..)?.iter().position(|b| *b == b'"')?;
    let mut escaped = false;
    let mut at = start + 1;
    loop {
        match text.get(at)? {
            b'"' => break,
            b'\\' => {
                escaped = true;
                at += 2;
            }
            _ => at += 1,
        }
    }
    let end = at + 1;
    let is_key = text[end..].iter().find(|b| !b.is_ascii_whitespace()) == Some(&b':');
    Some(Found { start, end, is_key, escaped })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_values_and_escapes_are_told_apart() {
        let text = br#"{"a\"b" : ["c", 1e400, "\\"], "d":{}}"#;
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(string) = next_string(text, at) {
            let raw = std::str::from_utf8(&text[string.start..string.end]).unwrap();
            found.push((raw, string.is_key, string.escaped));
            at = string.end;
        }
        assert_eq!(
            found,
            [
                (r#""a\"b""#, true, true),
                (r#""c""#, false, false),
                (r#""\\""#, false, true),
                (r#""d""#, true, false)
            ]
        );
        assert_eq!(next_string(br#"{"no end \""#, 0), None);
        assert_eq!(next_string(br#"{"no end \"#, 0), None);
    }
}

//! Clipping: the beginning and the end of a long text, under a notice that says how long it was.

use std::borrow::Cow;

/// Stands where the middle was.
const GAP: &str = "\n[…]\n";

/// At most `limit` characters of `text`.
///
/// A text within the limit is returned as it is. Of a longer one there remain a notice *at its head*, with the full
/// size and what to do about it, then the first two thirds and the last third of what still fits, cut between
/// characters. A limit with no room for more leaves the notice alone, which is then longer than the limit.
///
/// Takes one pass over the bytes of `text` and never copies it.
pub fn clip(text: &str, limit: usize) -> Cow<'_, str> {
    // A text has at least as many bytes as characters, so most texts need not be counted.
    if text.len() <= limit {
        return Cow::Borrowed(text);
    }
    let full = text.chars().count();
    if full <= limit {
        return Cow::Borrowed(text);
    }
    let notice = format!(
        "[Shortened: {full} characters in all; here are the beginning and the end. \
         To see the middle, ask for a smaller part.]\n"
    );
    let room = limit.saturating_sub(notice.chars().count() + GAP.chars().count());
    if room == 0 {
        return Cow::Owned(notice.trim_end().to_owned());
    }
    let tail = room / 3;
    Cow::Owned(format!("{notice}{}{GAP}{}", first(text, room - tail), last(text, tail)))
}

fn first(text: &str, characters: usize) -> &str {
    text.char_indices().nth(characters).map_or(text, |(border, _)| &text[..border])
}

fn last(text: &str, characters: usize) -> &str {
    match characters.checked_sub(1) {
        Some(before) => text.char_indices().nth_back(before).map_or(text, |(border, _)| &text[border..]),
        None => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_within_the_limit_is_not_touched() {
        assert!(matches!(clip("你好，世界", 5), Cow::Borrowed("你好，世界")));
        assert!(matches!(clip("", 0), Cow::Borrowed("")));
    }

    #[test]
    fn a_long_text_keeps_its_two_ends_under_a_notice() {
        let text: String = (0..100).map(|n| format!("第{n}行 🌞\n")).collect();
        assert_eq!(
            clip(&text, 180),
            "[Shortened: 690 characters in all; here are the beginning and the end. To see the middle, ask for a \
             smaller part.]\n第0行 🌞\n第1行 🌞\n第2行 🌞\n第3行 🌞\n第4行 🌞\n第5行 🌞\n第6行 \n[…]\n97行 🌞\n第98行 🌞\n第99行 🌞\n"
        );
    }

    #[test]
    fn the_result_is_as_long_as_the_limit_wherever_the_cut_falls() {
        for limit in 125..400 {
            assert_eq!(clip(&"好🌞e\u{301}".repeat(300), limit).chars().count(), limit);
        }
    }

    #[test]
    fn a_limit_without_room_leaves_the_notice() {
        let clipped = clip("abcdef", 3);
        assert!(clipped.starts_with("[Shortened: 6 characters"), "{clipped}");
    }

    #[test]
    fn fifty_megabytes_are_no_trouble() {
        let text = "天气".repeat(50_000_000 / 6);
        let clipped = clip(&text, 2_000);
        assert!(clipped.starts_with("[Shortened: 16666666 characters"), "{clipped}");
        assert_eq!(clipped.chars().count(), 2_000);
    }
}

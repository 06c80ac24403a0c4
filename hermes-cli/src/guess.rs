//! Which word was meant by one that does not exist.

/// How alike two words must be.
const ALIKE: f64 = 0.8;

/// The likeliest of the words, in capitals or not; none when none is like it.
pub fn nearest<'a>(word: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let likeness = |other: &&str| strsim::jaro_winkler(&word.to_lowercase(), &other.to_lowercase());
    let likely = words.into_iter().filter(|other| likeness(other) >= ALIKE);
    likely.max_by(|one, other| likeness(one).total_cmp(&likeness(other)))
}

/// The likeliest of the words, as the end of a sentence; nothing when none is like it.
pub fn meant<'a>(word: &str, words: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, words).map_or_else(String::new, |other| format!("; did you mean `{other}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_word_and_another_word_none() {
        let words = ["temperature", "max_tokens", "model_name"];
        for (word, meant_word) in
            [("temprature", "temperature"), ("max-tokens", "max_tokens"), ("Model", "model_name")]
        {
            assert_eq!(meant(word, words), format!("; did you mean `{meant_word}`?"));
        }
        for word in ["", "colour", "模型"] {
            assert_eq!(meant(word, words), "", "{word}");
        }
    }
}

//! Slips of the hand that make a text no YAML, or another one than was meant: what to mend, where the parser does not say it.

/// What to mend near this line, which counts from 1; nothing when it is none of the slips that are known.
pub fn hint(text: &str, line: u64) -> Option<String> {
    let lines: Vec<Line<'_>> =
        (1..).zip(text.lines()).filter_map(|(number, text)| Line::read(number, text)).collect();
    let here = lines.iter().rposition(|other| other.number <= line)?;
    // The parser finds some slips one line late, and tabs one line early.
    let before = here.saturating_sub(1);
    let tab = || lines[before..].iter().take(here - before + 2).find_map(Line::tab);
    let blank = || lines[before..=here].iter().find_map(Line::blank);
    tab().or_else(blank).or_else(|| indent(&lines[..=here]))
}

/// What to mend in a word that should have been a key and a value.
pub fn blank(word: &str) -> Option<String> {
    let (key, value) = word.split_once(':')?;
    let is_key = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let is_joined = value.starts_with(|c: char| !c.is_whitespace()) && !value.starts_with("//");
    (is_key && is_joined).then(|| format!("a blank is missing after `{key}:`"))
}

/// A line that says something.
struct Line<'a> {
    number: u64,
    /// The blanks and tabs before its words.
    margin: &'a str,
    words: &'a str,
}

impl<'a> Line<'a> {
    fn read(number: u64, text: &'a str) -> Option<Self> {
        let words = text.trim_start_matches([' ', '\t', '\u{feff}']);
        let margin = &text[..text.len() - words.len()];
        (!words.trim().is_empty() && !words.starts_with('#')).then_some(Self { number, margin, words })
    }

    fn tab(&self) -> Option<String> {
        let number = self.number;
        self.margin.contains('\t').then(|| format!("line {number}: indent with blanks, not tabs"))
    }

    fn blank(&self) -> Option<String> {
        Some(format!("line {}: {}", self.number, blank(self.words)?))
    }

    fn indent(&self) -> usize {
        self.margin.matches(' ').count()
    }

    fn key(&self) -> &str {
        self.words.split(':').next().unwrap_or_default().trim()
    }

    /// Whether deeper lines may follow: nothing stands after the colon, or what goes on below.
    fn opens(&self) -> bool {
        let words = self.words.split(" #").next().unwrap_or_default().trim_end();
        words.ends_with([':', '|', '>', '-', '[', '{', ',']) || words.starts_with("- ")
    }
}

/// What to mend when the last line stands neither with a line before it nor below one.
fn indent(lines: &[Line<'_>]) -> Option<String> {
    let (last, before) = lines.split_last()?;
    let above = before.last()?;
    let mut neighbours =
        if last.indent() > above.indent() && above.opens() { None } else { Some(above.indent()) };
    let mut open = above.indent();
    for line in before.iter().rev().filter(|line| line.indent() >= last.indent()) {
        if line.indent() <= open {
            open = line.indent();
            neighbours = Some(open);
        }
    }
    let neighbours = neighbours.filter(|neighbours| *neighbours != last.indent())?;
    let (number, key, own) = (last.number, last.key(), last.indent());
    let blanks = if own == 1 { "blank" } else { "blanks" };
    Some(format!(
        "line {number}: `{key}` stands {own} {blanks} in, its neighbours {neighbours}: indent them alike"
    ))
}

#[cfg(test)]
mod tests {
    use super::super::{document, yaml::Wrong};
    use expect_test::expect;

    /// Each text and why it cannot be used.
    fn said(texts: &[&str]) -> String {
        let said = |text: &&str| match document::read(text) {
            Ok(_) => format!("{text:?}\n    can be used\n"),
            Err(Wrong { place, words }) => {
                format!("{text:?}\n    {}:{}: {words}\n", place.line, place.column)
            }
        };
        texts.iter().map(said).collect()
    }

    #[test]
    fn lines_that_do_not_stand_with_others_are_named() {
        expect![[r#"
            "model:\n  endpoint: http://h\n   model_name: y\n"
                3:14: mapping values are not allowed in this context; line 3: `model_name` stands 3 blanks in, its neighbours 2: indent them alike
            "model:\n   endpoint: http://h\n  # 名字\n\n  model_name: y\n"
                5:3: while parsing a block mapping, did not find expected key; line 5: `model_name` stands 2 blanks in, its neighbours 3: indent them alike
            "model:\n  headers:\n    A: b\n   C: d\n"
                4:4: while parsing a block mapping, did not find expected key; line 4: `C` stands 3 blanks in, its neighbours 4: indent them alike
            "model:\n  headers:\n    A: b\n model_name: y\n"
                4:2: while parsing a block mapping, did not find expected key; line 4: `model_name` stands 1 blank in, its neighbours 2: indent them alike
            " model:\n  endpoint: http://h\nmax_iterations: 3\n"
                3:1: did not find expected <document start>; line 3: `max_iterations` stands 0 blanks in, its neighbours 1: indent them alike
            "max_iterations: 3\n  root: y\n"
                2:7: mapping values are not allowed in this context; line 2: `root` stands 2 blanks in, its neighbours 0: indent them alike
            "system_prompt: |\n  a\n b\n"
                3:2: while parsing a block mapping, did not find expected key; line 3: `b` stands 1 blank in, its neighbours 2: indent them alike
            "model:\n  stop:\n    - a\n   - b\n"
                4:4: while parsing a block mapping, did not find expected key; line 4: `- b` stands 3 blanks in, its neighbours 4: indent them alike
        "#]].assert_eq(&said(&[
            "model:\n  endpoint: http://h\n   model_name: y\n",
            "model:\n   endpoint: http://h\n  # 名字\n\n  model_name: y\n",
            "model:\n  headers:\n    A: b\n   C: d\n",
            "model:\n  headers:\n    A: b\n model_name: y\n",
            " model:\n  endpoint: http://h\nmax_iterations: 3\n",
            "max_iterations: 3\n  root: y\n",
            "system_prompt: |\n  a\n b\n",
            "model:\n  stop:\n    - a\n   - b\n",
        ]));
    }

    #[test]
    fn tabs_are_named() {
        expect![[r#"
            "model:\n\tendpoint: http://h\n"
                2:2: tabs disallowed within this context (block indentation); line 2: indent with blanks, not tabs
            "model:\n  endpoint: http://h\n\tmodel_name: y\n"
                2:13: while scanning a plain scalar, found a tab; line 3: indent with blanks, not tabs
            "model:\n  endpoint: http://h\n  \tmodel_name: y\n"
                2:13: while scanning a plain scalar, found a tab; line 3: indent with blanks, not tabs
        "#]].assert_eq(&said(&[
            "model:\n\tendpoint: http://h\n",
            "model:\n  endpoint: http://h\n\tmodel_name: y\n",
            "model:\n  endpoint: http://h\n  \tmodel_name: y\n",
        ]));
    }

    #[test]
    fn a_colon_without_a_blank_is_named() {
        expect![[r#"
            "max_iterations:8\n"
                1:1: the file must hold a map of settings, such as `max_iterations: 8`; a blank is missing after `max_iterations:`
            "max_iterations:8\nroot: .\n"
                2:5: mapping values are not allowed in this context; line 1: a blank is missing after `max_iterations:`
            "root: .\nmax_iterations:8\n"
                2:1: simple key expected ':'; line 2: a blank is missing after `max_iterations:`
            "system_prompt:你好\n"
                1:1: the file must hold a map of settings, such as `max_iterations: 8`; a blank is missing after `system_prompt:`
            "model:\n  model_name:qwen\n"
                2:3: `model` must be a map of settings, such as `model_name: qwen2.5:7b`; a blank is missing after `model_name:`
            "model:\n  model_name:qwen\n  endpoint: http://h\n"
                3:11: mapping values are not allowed in this context; line 2: a blank is missing after `model_name:`
            "model:\n  endpoint: http://h\n  temperature:0\n\n# 三\nmax_iterations: 3\n"
                3:3: simple key expected ':'; line 3: a blank is missing after `temperature:`
            "model:\n  endpoint:http://h\nmax_iterations: 3\n"
                2:3: `model` must be a map of settings, such as `model_name: qwen2.5:7b`; a blank is missing after `endpoint:`
            "model: {temperature:0}\n"
                1:9: there is no setting `temperature:0` below `model`; a blank is missing after `temperature:` (there are endpoint, model_name, api_key, api_key_env, headers, query, body, streaming, temperature, max_tokens, stop, seed, tool_choice)
        "#]].assert_eq(&said(&[
            "max_iterations:8\n",
            "max_iterations:8\nroot: .\n",
            "root: .\nmax_iterations:8\n",
            "system_prompt:你好\n",
            "model:\n  model_name:qwen\n",
            "model:\n  model_name:qwen\n  endpoint: http://h\n",
            "model:\n  endpoint: http://h\n  temperature:0\n\n# 三\nmax_iterations: 3\n",
            "model:\n  endpoint:http://h\nmax_iterations: 3\n",
            "model: {temperature:0}\n",
        ]));
    }

    #[test]
    fn what_is_none_of_these_slips_gets_no_hint() {
        expect![[r#"
            "max_iterations: 3\nfoo\n"
                2:1: simple key expected ':'
            "system_prompt: a: b\n"
                1:17: mapping values are not allowed in this context
            "http://h\n"
                1:1: the file must hold a map of settings, such as `max_iterations: 8`
            "model: [\n"
                1:8: unclosed bracket '['
            "system_prompt: \"a\n"
                1:16: unclosed quote
        "#]]
        .assert_eq(&said(&[
            "max_iterations: 3\nfoo\n",
            "system_prompt: a: b\n",
            "http://h\n",
            "model: [\n",
            "system_prompt: \"a\n",
        ]));
    }
}

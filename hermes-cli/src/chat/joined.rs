//! Lines that belong together: each but the last ends with a backslash.

/// The lines so far.
#[derive(Debug, Default)]
pub struct Joined {
    text: String,
    begun: Begun,
}

#[derive(Debug, Default, PartialEq)]
enum Begun {
    Yes,
    #[default]
    No,
}

impl Joined {
    /// Whether no line came yet.
    pub fn is_empty(&self) -> bool {
        self.begun == Begun::No
    }

    /// Adds a line; the whole text, when it was the last.
    pub fn add(&mut self, line: &str) -> Option<String> {
        if self.begun == Begun::Yes {
            self.text.push('\n');
        }
        self.begun = Begun::Yes;
        match line.strip_suffix('\\') {
            Some(line) => {
                self.text += line;
                None
            }
            None => {
                self.text += line;
                Some(self.end())
            }
        }
    }

    /// What came so far is all; the next line begins anew.
    pub fn end(&mut self) -> String {
        std::mem::take(self).text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backslash_at_the_end_asks_for_one_more_line() {
        let mut joined = Joined::default();
        assert_eq!(joined.add("一"), Some("一".to_owned()));
        assert_eq!((joined.add("a\\"), joined.add("\\"), joined.is_empty()), (None, None, false));
        assert_eq!(joined.add("b"), Some("a\n\nb".to_owned()));
        assert_eq!((joined.add("c\\"), joined.end(), joined.is_empty()), (None, "c".to_owned(), true));
    }
}

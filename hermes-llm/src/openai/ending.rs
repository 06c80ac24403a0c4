//! Whether a reply is at its end: the model says why it stops, but some servers say so with every part.

/// How far the reading of an answer has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// More must come, or may well come though the model was said to have stopped.
    Open,
    /// The model is said to have stopped, but so early that this may be said with every part.
    Doubtful,
    /// The model has stopped; at most the usage is to come.
    Finished,
    /// Nothing more is to come but the end of the body.
    Complete,
}

/// What one part of a reply says of its end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Signs {
    /// It holds text, thoughts or calls.
    pub(super) content: bool,
    /// It says why the model stopped.
    pub(super) finish: bool,
    /// It says what the reply cost.
    pub(super) usage: bool,
}

/// What the parts so far say.
#[derive(Debug, Default)]
pub(super) struct Ending {
    has_content: bool,
    has_stopped: bool,
    /// Content has come before any finish: the server does not say it with every part.
    spoke_first: bool,
    /// Content has come after a finish, which therefore meant nothing.
    went_on: bool,
    /// A finish has come since the last content.
    is_told: bool,
    /// The usage has come by itself after the last content.
    is_counted: bool,
}

impl Ending {
    /// Takes the next part, and returns whether its word for the finish holds: the first after the last content does,
    /// for some servers add a `stop` after `tool_calls`.
    pub(super) fn hear(&mut self, part: Signs) -> bool {
        let is_news = part.finish && (part.content || !self.is_told);
        if part.content {
            self.went_on |= self.has_stopped;
            self.spoke_first |= !self.has_stopped && !part.finish;
            self.has_content = true;
        }
        let is_bare = !part.content && !part.finish;
        self.is_counted = !part.content && (self.is_counted || (part.usage && is_bare && self.has_stopped));
        self.is_told = part.finish || (self.is_told && !part.content);
        self.has_stopped |= part.finish;
        is_news
    }

    /// Whether the model was said to have stopped, be it true or not.
    pub(super) fn has_stopped(&self) -> bool {
        self.has_stopped
    }

    /// Whether some text, thought or call has come.
    pub(super) fn has_content(&self) -> bool {
        self.has_content
    }

    pub(super) fn stage(&self) -> Stage {
        match (self.has_stopped, self.is_counted) {
            (false, _) => Stage::Open,
            (true, true) if self.went_on => Stage::Finished,
            (true, true) => Stage::Complete,
            // An empty reply is worth any wait.
            (true, false) if self.went_on || !self.has_content => Stage::Open,
            (true, false) if self.spoke_first => Stage::Finished,
            (true, false) => Stage::Doubtful,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: Signs = Signs { content: true, finish: false, usage: false };
    const STOP: Signs = Signs { content: false, finish: true, usage: false };
    const USAGE: Signs = Signs { content: false, finish: false, usage: true };
    const TEXT_AND_STOP: Signs = Signs { content: true, finish: true, usage: false };
    const ALL: Signs = Signs { content: true, finish: true, usage: true };

    #[test]
    fn a_finish_ends_a_reply_unless_it_comes_with_every_part() {
        for (parts, stage) in [
            (&[][..], Stage::Open),
            (&[TEXT, USAGE], Stage::Open),
            (&[TEXT, STOP], Stage::Finished),
            (&[TEXT, TEXT_AND_STOP], Stage::Finished),
            (&[TEXT, ALL], Stage::Finished),
            (&[TEXT, STOP, USAGE], Stage::Complete),
            // The whole reply in one part, or the first of many.
            (&[TEXT_AND_STOP], Stage::Doubtful),
            (&[ALL], Stage::Doubtful),
            (&[STOP], Stage::Open),
            (&[STOP, USAGE], Stage::Complete),
            (&[ALL, USAGE], Stage::Complete),
            (&[ALL, ALL], Stage::Open),
            (&[STOP, TEXT], Stage::Open),
            (&[TEXT, STOP, USAGE, TEXT], Stage::Open),
            (&[ALL, ALL, STOP], Stage::Open),
            (&[ALL, ALL, STOP, USAGE], Stage::Finished),
        ] {
            let mut ending = Ending::default();
            for part in parts {
                ending.hear(*part);
            }
            assert_eq!(ending.stage(), stage, "{parts:?}");
        }
    }

    #[test]
    fn the_first_word_after_the_last_content_holds() {
        let news = |parts: &[Signs]| {
            let mut ending = Ending::default();
            parts.iter().map(|part| ending.hear(*part)).collect::<Vec<_>>()
        };
        assert_eq!(news(&[TEXT, STOP, STOP]), [false, true, false]);
        assert_eq!(news(&[ALL, ALL, USAGE]), [true, true, false]);
        assert_eq!(news(&[STOP, TEXT, STOP, STOP]), [true, false, true, false]);
    }
}

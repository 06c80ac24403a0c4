//! How long the next bytes of an answer are waited for.

use std::time::Duration;

use tokio::time::Instant;

use super::answer::{Came, Stage};

/// How many times longer than between bytes a server may send heartbeats and nothing else.
const HEARTBEATS: u32 = 5;
/// For the usage, after the model has stopped: some servers promise it and leave the connection open.
const FOR_USAGE: Duration = Duration::from_secs(2);
/// For the end of a body in which nothing more is to come. It is waited for at all because only then the connection
/// can be used again; nearly always it is there already.
const FOR_END: Duration = Duration::from_millis(100);
/// Longer than anybody waits, and yet a time that a clock can show.
const FOR_EVER: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// The patience with one answer: what it heard, and when.
#[derive(Debug)]
pub(super) struct Patience {
    between_bytes: Duration,
    last_byte: Instant,
    last_data: Instant,
    stage: Stage,
    since: Instant,
}

impl Patience {
    pub(super) fn new(between_bytes: Duration, now: Instant) -> Self {
        Patience { between_bytes, last_byte: now, last_data: now, stage: Stage::Open, since: now }
    }

    /// Some bytes came.
    pub(super) fn heard(&mut self, came: Came, stage: Stage, now: Instant) {
        self.last_byte = now;
        if came == Came::Data {
            self.last_data = now;
        }
        if stage != self.stage {
            (self.stage, self.since) = (stage, now);
        }
    }

    /// When it ends, and how long that is.
    pub(super) fn end(&self) -> (Instant, Duration) {
        let of = |since: Instant, wait: Duration| (since.checked_add(wait).unwrap_or(since + FOR_EVER), wait);
        match self.stage {
            Stage::Complete => of(self.since, FOR_END),
            Stage::Finished => of(self.since, FOR_USAGE),
            Stage::Open => of(self.last_byte, self.between_bytes)
                .min(of(self.last_data, self.between_bytes.saturating_mul(HEARTBEATS))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heartbeats_are_life_but_not_for_ever() {
        let begun = Instant::now();
        let second = Duration::from_secs(1);
        let mut patience = Patience::new(10 * second, begun);
        assert_eq!(patience.end(), (begun + 10 * second, 10 * second));
        patience.heard(Came::Heartbeat, Stage::Open, begun + 9 * second);
        assert_eq!(patience.end(), (begun + 19 * second, 10 * second));
        patience.heard(Came::Heartbeat, Stage::Open, begun + 45 * second);
        assert_eq!(patience.end(), (begun + 50 * second, 50 * second));
        patience.heard(Came::Data, Stage::Open, begun + 46 * second);
        assert_eq!(patience.end(), (begun + 56 * second, 10 * second));
    }

    #[test]
    fn after_the_last_word_only_a_grace_is_left() {
        let begun = Instant::now();
        let second = Duration::from_secs(1);
        let mut patience = Patience::new(10 * second, begun);
        patience.heard(Came::Data, Stage::Finished, begun + second);
        patience.heard(Came::Heartbeat, Stage::Finished, begun + 2 * second);
        assert_eq!(patience.end(), (begun + second + FOR_USAGE, FOR_USAGE));
        patience.heard(Came::Data, Stage::Complete, begun + 2 * second);
        assert_eq!(patience.end(), (begun + 2 * second + FOR_END, FOR_END));
    }
}

//! How long the next bytes of an answer are waited for.

use std::time::Duration;

use tokio::time::Instant;

use super::ending::Stage;

/// How many times longer than between bytes a server may send heartbeats and nothing else.
const HEARTBEATS: u32 = 5;
/// For the usage, or a last call that comes late, after the model has stopped: some servers promise the usage and leave
/// the connection open.
const FOR_MORE: Duration = Duration::from_secs(5);
/// Between bytes, where nobody can say whether the model has stopped.
const IN_DOUBT: Duration = Duration::from_secs(10);
/// For the end of a body in which nothing more is to come. It is waited for at all because only then the connection
/// can be used again; nearly always it is there already.
const FOR_END: Duration = Duration::from_millis(100);
/// Longer than anybody waits, and yet a time that a clock can show.
const FOR_EVER: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// What some bytes brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Came {
    /// A sign of life: comments, blank lines, events that bring nothing.
    Heartbeat,
    /// A part of the reply.
    Data,
}

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
        match self.stage {
            Stage::Complete => after(self.since, FOR_END),
            Stage::Finished => after(self.since, FOR_MORE),
            Stage::Doubtful => self.silence(self.between_bytes.min(IN_DOUBT)),
            Stage::Open => self.silence(self.between_bytes),
        }
    }

    fn silence(&self, between_bytes: Duration) -> (Instant, Duration) {
        let heartbeats = between_bytes.saturating_mul(HEARTBEATS);
        after(self.last_byte, between_bytes).min(after(self.last_data, heartbeats))
    }
}

fn after(since: Instant, wait: Duration) -> (Instant, Duration) {
    (since.checked_add(wait).unwrap_or(since + FOR_EVER), wait)
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
        assert_eq!(patience.end(), (begun + second + FOR_MORE, FOR_MORE));
        patience.heard(Came::Data, Stage::Complete, begun + 2 * second);
        assert_eq!(patience.end(), (begun + 2 * second + FOR_END, FOR_END));
    }

    #[test]
    fn in_doubt_each_byte_begins_the_wait_anew() {
        let begun = Instant::now();
        let second = Duration::from_secs(1);
        let mut patience = Patience::new(60 * second, begun);
        patience.heard(Came::Data, Stage::Doubtful, begun + second);
        patience.heard(Came::Data, Stage::Doubtful, begun + 8 * second);
        assert_eq!(patience.end(), (begun + 8 * second + IN_DOUBT, IN_DOUBT));
        let mut hasty = Patience::new(second, begun);
        hasty.heard(Came::Data, Stage::Doubtful, begun);
        assert_eq!(hasty.end(), (begun + second, second));
    }
}

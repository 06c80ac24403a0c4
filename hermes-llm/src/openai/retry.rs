//! Which failures are repeated, and after how long.

use std::time::Duration;

use backon::ExponentialBuilder;
use chrono::{DateTime, Utc};

use super::asked::Asked;
use crate::{ChatError, Endpoint};

/// The longest wait, whatever a server says.
pub(super) const MAX_WAIT: Duration = Duration::from_secs(60);

/// A failed attempt.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) error: ChatError,
    repeat: Repeat,
    retry_after: Option<Duration>,
    /// What of streaming to ask for instead, if that is what was refused.
    pub(super) instead: Option<Asked>,
}

/// Whether asking again may help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repeat {
    Never,
    Once,
    AsPlanned,
}

impl Failure {
    /// It may be gone when asked again.
    pub(super) fn passing(error: ChatError) -> Self {
        Failure { repeat: Repeat::AsPlanned, ..Self::lasting(error) }
    }

    /// It may be gone when asked again, but to find out takes long.
    pub(super) fn stalled(error: ChatError) -> Self {
        Failure { repeat: Repeat::Once, ..Self::lasting(error) }
    }

    /// Asking again gives the same.
    pub(super) fn lasting(error: ChatError) -> Self {
        Failure { error, repeat: Repeat::Never, retry_after: None, instead: None }
    }

    pub(super) fn retry_after(self, retry_after: Option<Duration>) -> Self {
        Failure { retry_after, ..self }
    }

    pub(super) fn instead(self, instead: Option<Asked>) -> Self {
        Failure { instead, ..self }
    }

    /// Whether to ask again; `stalls` counts those that are repeated once, over all attempts.
    pub(super) fn passes(&self, stalls: &mut u32) -> bool {
        match self.repeat {
            Repeat::Never => false,
            Repeat::AsPlanned => true,
            Repeat::Once => {
                *stalls += 1;
                *stalls == 1
            }
        }
    }

    /// The wait before the next attempt: what the back-off proposes, or longer if the server asks for it. `None` when
    /// the attempts are used up.
    pub(super) fn wait(&self, proposed: Option<Duration>) -> Option<Duration> {
        let asked = self.retry_after.unwrap_or_default();
        proposed.map(|proposed| proposed.max(asked).min(MAX_WAIT))
    }
}

/// The waits that an endpoint's settings give.
pub(super) fn plan(endpoint: &Endpoint) -> ExponentialBuilder {
    let (retries, first_wait) = endpoint.retry_plan();
    ExponentialBuilder::new()
        .with_min_delay(first_wait)
        .with_max_delay(MAX_WAIT)
        .with_max_times(retries as usize)
        .with_jitter()
}

/// Reads a `Retry-After` header: seconds, or an HTTP date. A date that has passed is no wait.
pub(super) fn retry_after(value: &str, now: DateTime<Utc>) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        // Some send fractions; a negative or endless wait is none.
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = DateTime::parse_from_rfc2822(value).ok()?;
    Some((date.to_utc() - now).to_std().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stall_is_repeated_once_over_all_attempts() {
        let error = || ChatError::bad_reply("");
        let mut stalls = 0;
        let passes = [Failure::stalled(error()), Failure::passing(error()), Failure::stalled(error())]
            .map(|failure| failure.passes(&mut stalls));
        assert_eq!(passes, [true, true, false]);
        assert!(!Failure::lasting(error()).passes(&mut 0));
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = DateTime::parse_from_rfc3339("2026-11-30T10:00:00Z").unwrap().to_utc();
        for (value, seconds) in [
            ("7", Some(7.0)),
            (" 0.5 ", Some(0.5)),
            ("Mon, 30 Nov 2026 10:00:05 GMT", Some(5.0)),
            ("Mon, 30 Nov 2026 09:00:00 GMT", Some(0.0)),
            ("-1", None),
            ("inf", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(retry_after(value, now), seconds.map(Duration::from_secs_f64), "{value}");
        }
    }

    #[test]
    fn the_server_may_ask_for_more_than_the_back_off_but_not_for_ever() {
        let second = Duration::from_secs(1);
        let failure = |seconds| {
            Failure::passing(ChatError::bad_reply("")).retry_after(Some(Duration::from_secs(seconds)))
        };
        assert_eq!(failure(5).wait(Some(second)), Some(5 * second));
        assert_eq!(failure(0).wait(Some(second)), Some(second));
        assert_eq!(failure(9_999).wait(Some(second)), Some(MAX_WAIT));
        assert_eq!(failure(5).wait(None), None);
    }
}

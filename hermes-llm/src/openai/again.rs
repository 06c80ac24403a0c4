//! The words of a warning that the model is asked again. They are short: the error of the last try says all.

use std::time::Duration;

use crate::{ChatError, Endpoint};

/// The most characters of a cause.
const MOST: usize = 80;

/// Counts the tries of one question.
pub(super) struct Again {
    tries: u32,
    all: u32,
}

impl Again {
    pub(super) fn of(endpoint: &Endpoint) -> Self {
        let (retries, _) = endpoint.retry_plan();
        Again { tries: 1, all: retries.saturating_add(1) }
    }

    /// Counts one more try, which follows this error after this wait.
    pub(super) fn words(&mut self, wait: Duration, error: &ChatError) -> String {
        self.tries = self.tries.saturating_add(1);
        let (wait, cause) = (wait.as_secs_f64(), cause(error));
        format!("asking the model again in {wait:.1} s (try {} of {}): {cause}", self.tries, self.all)
    }
}

fn cause(error: &ChatError) -> String {
    match error {
        ChatError::Unreachable { message, .. } => beginning(message),
        ChatError::Timeout { after, .. } => format!("silent for {after:?}"),
        ChatError::Server { status, message } => format!("HTTP {status}, {}", beginning(message)),
        ChatError::RateLimited { message, .. } => format!("HTTP 429, {}", beginning(message)),
        other => beginning(&other.to_string()),
    }
}

/// The first clause, as the end of a sentence.
fn beginning(message: &str) -> String {
    let end = [". ", " (", "\n"].iter().filter_map(|end| message.find(end)).min().unwrap_or(message.len());
    let mut letters = message[..end].trim_end_matches('.').chars();
    letters.next().into_iter().flat_map(char::to_lowercase).chain(letters).take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_has_the_try_the_wait_and_a_short_cause() {
        let endpoint = Endpoint::new("http://h", "m").unwrap().retries(2);
        let mut again = Again::of(&endpoint);
        let message =
            "Connection refused (os error 111). Is the server running, and the address right?".into();
        let error = ChatError::Unreachable { url: "http://h".into(), message, source: None };
        assert_eq!(
            again.words(Duration::from_millis(812), &error),
            "asking the model again in 0.8 s (try 2 of 3): connection refused"
        );
        let error = ChatError::Server { status: 503, message: "模型 loading model. Wait!".into() };
        assert_eq!(
            again.words(Duration::from_secs(60), &error),
            "asking the model again in 60.0 s (try 3 of 3): HTTP 503, 模型 loading model"
        );
        let error = ChatError::Timeout { url: "http://h".into(), after: Duration::from_secs(60) };
        assert!(again.words(Duration::ZERO, &error).ends_with(": silent for 60s"));
        assert_eq!(beginning(&"长".repeat(200)).chars().count(), MOST);
        assert_eq!(beginning(""), "");
    }
}

//! The sleeper: the one thing that waits for the next timer.

use std::pin::Pin;

use tokio::time::{Instant, Sleep, sleep_until};

/// Sleeps until the earliest time that it was wound to. It may ring for a timer that has been disarmed meanwhile.
#[derive(Default)]
pub(super) struct Sleeper(Option<Pin<Box<Sleep>>>);

impl Sleeper {
    /// Makes it ring at `next`, unless it rings before.
    pub(super) fn wind(&mut self, next: Option<Instant>) {
        let Some(next) = next else { return };
        match &mut self.0 {
            Some(sleep) if sleep.deadline() <= next => {}
            Some(sleep) => sleep.as_mut().reset(next),
            None => self.0 = Some(Box::pin(sleep_until(next))),
        }
    }

    /// Returns when it is time; never when it was not wound.
    pub(super) async fn rings(&mut self) {
        match &mut self.0 {
            Some(sleep) => sleep.as_mut().await,
            None => std::future::pending().await,
        }
        self.0 = None;
    }
}

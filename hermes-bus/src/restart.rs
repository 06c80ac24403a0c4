//! The restart budget: how often an actor may die before it is given up. Plain data, no clock of its own.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

/// Allows a number of restarts within a time.
#[derive(Debug, Clone)]
pub struct RestartBudget {
    most: usize,
    within: Duration,
    deaths: VecDeque<Instant>,
}

impl RestartBudget {
    /// At most `most` restarts in any span of `within`.
    pub fn new(most: usize, within: Duration) -> Self {
        Self { most, within, deaths: VecDeque::new() }
    }

    /// Counts a death at `now` and says whether a restart is still allowed.
    pub fn allows(&mut self, now: Instant) -> bool {
        while self.deaths.front().is_some_and(|death| now.duration_since(*death) > self.within) {
            self.deaths.pop_front();
        }
        self.deaths.push_back(now);
        self.deaths.len() <= self.most
    }
}

impl Default for RestartBudget {
    /// 3 in 60 s.
    fn default() -> Self {
        Self::new(3, Duration::from_secs(60))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fourth_death_within_a_minute_is_one_too_many() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut budget = RestartBudget::default();
        assert!(budget.allows(at(0)) && budget.allows(at(1)) && budget.allows(at(2)));
        assert!(!budget.allows(at(3)));
        assert!(budget.allows(at(200)));
    }
}

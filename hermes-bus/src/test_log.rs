//! What a runtime for tests records and checks when it is dropped.

use std::sync::Mutex;

use crate::journal::{Journal, Record};
use crate::runtime::read_all;
use crate::{Id, laws};

/// A check over a whole journal: the words for each thing that is wrong.
pub type Check = fn(&TestLog, &dyn Journal, &[Record]) -> Vec<String>;

/// The state of a machine after it had taken an envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// Which machine (its `task.start`).
    pub machine: Id,
    /// The number of the envelope.
    pub seq: u64,
    /// A hash of its state.
    pub fingerprint: u64,
}

/// Marks of live machines, and the checks that are made on drop. The laws 1-5 are always checked.
#[derive(Default)]
pub struct TestLog {
    marks: Mutex<Vec<Mark>>,
    checks: Mutex<Vec<(&'static str, Check)>>,
}

impl TestLog {
    /// Records the state of a live machine.
    pub fn mark(&self, mark: Mark) {
        if let Ok(mut marks) = self.marks.lock() {
            marks.push(mark);
        }
    }

    /// What live machines recorded, in no order across machines.
    pub fn marks(&self) -> Vec<Mark> {
        self.marks.lock().map(|marks| marks.clone()).unwrap_or_default()
    }

    /// Adds a check under a name; a second one with that name is ignored.
    pub fn add_check(&self, name: &'static str, check: Check) {
        if let Ok(mut checks) = self.checks.lock()
            && !checks.iter().any(|(known, _)| *known == name)
        {
            checks.push((name, check));
        }
    }

    /// Everything that is wrong with the journal.
    pub fn broken(&self, journal: &dyn Journal) -> Vec<String> {
        let records = match read_all(journal) {
            Ok(records) => records,
            Err(error) => return vec![error.to_string()],
        };
        let mut broken: Vec<String> = laws::check(records.iter().map(|record| &record.line[..]))
            .iter()
            .map(ToString::to_string)
            .collect();
        let checks = self.checks.lock().map(|checks| checks.clone()).unwrap_or_default();
        for (name, check) in checks {
            broken.extend(check(self, journal, &records).into_iter().map(|text| format!("{name}: {text}")));
        }
        broken
    }
}

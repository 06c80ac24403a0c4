//! Progress: how a call that runs tells those who watch what it is doing.

use std::fmt;
use std::sync::{Arc, Weak};

use hermes_bus::{Bus, Draft, Envelope};

use crate::protocol::ToolProgress;

/// Tells the progress of one call as interim notes; one without a call tells nobody.
#[derive(Clone, Default)]
pub(crate) struct Reporter(Option<Call>);

#[derive(Clone)]
struct Call {
    bus: Bus,
    /// While the ask is open, the bus holds its envelope: what has ended makes no progress any more.
    ask: Weak<Envelope>,
}

impl Reporter {
    pub(crate) fn new(bus: Bus, ask: &Arc<Envelope>) -> Self {
        Self(Some(Call { bus, ask: Arc::downgrade(ask) }))
    }

    pub(crate) fn tell(&self, call_id: &str, text: String, done_of_total: Option<(u64, u64)>) {
        let Some(Call { bus, ask }) = &self.0 else { return };
        if !bus.is_observed() {
            return;
        }
        let Some(ask) = ask.upgrade() else { return };
        let (done, total) = done_of_total.unzip();
        let me = ask.receiver.clone();
        let note = ToolProgress { call_id: call_id.to_owned(), text, done, total };
        bus.send(Draft::caused_by(&ask, me.clone(), me, note));
    }
}

impl fmt::Debug for Reporter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.0.is_some() { "Reporter" } else { "Reporter(nobody)" })
    }
}

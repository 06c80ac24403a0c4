//! Ctrl-C and SIGTERM: the first cancels the task lawfully, the second ends the program at once.

use std::io;

use hermes_actors::Canceller;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit::Exit;
use crate::terminal::say;

/// The signals that ask for an end, kept from the moment it is made.
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// Listens from now on.
    pub fn listen() -> io::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// Lets the signals end what `canceller` cancels.
    pub fn guard(mut self, canceller: Canceller) {
        tokio::spawn(async move {
            self.next().await;
            // Before a word is said: stderr may take none.
            canceller.cancel();
            say("cancelling (once more ends at once)");
            self.next().await;
            std::process::exit(i32::from(Exit::Cancelled as u8));
        });
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

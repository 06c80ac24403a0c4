//! Ctrl-C and SIGTERM: the first cancels the task lawfully, the second ends the program at once.

use std::io;
use std::pin::pin;

use hermes_actors::Canceller;
use tokio::signal::unix::{self, SignalKind, signal};

use crate::exit::Exit;
use crate::terminal::say;

/// The signals that ask for an end, kept from the moment it is made.
pub struct Signals {
    interrupt: unix::Signal,
    terminate: unix::Signal,
}

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    Interrupt,
    Terminate,
}

impl Signals {
    /// Listens from now on.
    pub fn listen() -> io::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// Lets the signals end what `canceller` cancels, and the program.
    pub fn guard(mut self, canceller: Canceller) {
        tokio::spawn(async move {
            self.next().await;
            cancel(&canceller);
            self.next().await;
            leave();
        });
    }

    /// Does the work of a task to its end, and lets the signals end what `canceller` cancels, and the program. The signal
    /// that came, if one did.
    pub async fn finish<T>(
        &mut self,
        canceller: &Canceller,
        work: impl Future<Output = T>,
    ) -> (T, Option<Signal>) {
        let mut work = pin!(work);
        let signal = tokio::select! {
            done = &mut work => return (done, None),
            signal = self.next() => signal,
        };
        cancel(canceller);
        tokio::select! {
            done = work => (done, Some(signal)),
            _ = self.next() => leave(),
        }
    }

    /// The next signal.
    ///
    /// # Cancel safety
    /// None is lost when it is dropped.
    pub async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = self.terminate.recv() => Signal::Terminate,
        }
    }
}

fn cancel(canceller: &Canceller) {
    // Before a word is said: stderr may take none.
    canceller.cancel();
    say("cancelling (once more ends at once)");
}

fn leave() -> ! {
    std::process::exit(i32::from(Exit::Cancelled as u8))
}

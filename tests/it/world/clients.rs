//! Clients: what becomes of the handles of tasks, and what their holders are told.

use std::future::Future;
use std::task::{Context, Waker};
use std::time::Duration;

use hermes_actors::{Agent, Canceller, Outcome, RunError, TaskHandle};
use hermes_bus::TraceId;
use tokio::time::{sleep, timeout};

use super::scenario::{Client, Task};

/// After this time a client cancels: some models and tools hang for ever.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// In this time a task that was cancelled has ended, whatever it waited for.
const GRACE: Duration = Duration::from_secs(60);

/// What a client heard of its task.
#[derive(Debug)]
pub enum Heard {
    Outcome(TraceId, Box<Outcome>),
    /// It could not be journaled.
    Refused(RunError),
    /// The client did not wait for the outcome.
    Left,
}

/// Starts a task and does with its handle what the scenario says.
///
/// # Panics
/// When it has to wait for longer than anybody should.
pub async fn run(agent: Agent, task: Task) -> Heard {
    sleep(Duration::from_millis(task.starts)).await;
    if let Client::LeavesAtOnce = task.client {
        let mut start = Box::pin(agent.start("天气？"));
        let _ = start.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        return Heard::Left;
    }
    // As many as there are tasks may be before it.
    let handle = match timeout(10 * (PATIENCE + GRACE), agent.start("天气？")).await.expect("never admitted")
    {
        Ok(handle) => handle,
        Err(why) => return Heard::Refused(why),
    };
    drop(agent);
    match task.client {
        Client::Drops(after) => {
            sleep(Duration::from_millis(after)).await;
            Heard::Left
        }
        Client::Detaches(after) => {
            sleep(Duration::from_millis(after)).await;
            tokio::spawn(cancel_at_last(handle.canceller()));
            handle.detach();
            Heard::Left
        }
        client => wait(handle, client).await,
    }
}

async fn wait(handle: TaskHandle, client: Client) -> Heard {
    let (trace, canceller) = (handle.trace_id(), handle.canceller());
    let waiting = async {
        if let Client::Reads = client {
            let mut envelopes = handle.envelopes();
            while let Ok(Some(envelope)) = envelopes.next().await {
                assert_eq!(envelope.trace_id, trace);
            }
        }
        handle.outcome().await
    };
    let patience = async {
        if let Client::Cancels(after) | Client::CancelsTwice(after) = client {
            sleep(Duration::from_millis(after)).await;
            canceller.cancel();
        }
        if let Client::CancelsTwice(_) = client {
            canceller.cancel();
        }
        sleep(PATIENCE).await;
        canceller.cancel();
        sleep(GRACE).await;
    };
    tokio::select! {
        biased;
        outcome = waiting => Heard::Outcome(trace, Box::new(outcome)),
        () = patience => panic!("a task has no outcome a minute after its cancel (trace {trace})"),
    }
}

async fn cancel_at_last(canceller: Canceller) {
    sleep(PATIENCE).await;
    canceller.cancel();
}

//! Shutting down: what is open gets a grace.

use std::time::Duration;

use hermes_bus::*;
use tokio::time::Instant;

use crate::support::*;

const GRACE: Duration = Duration::from_secs(5);

#[tokio::test(start_paused = true)]
async fn nothing_is_waited_for_when_nothing_is_open() {
    let runtime = Runtime::for_tests();
    runtime.register(Place::Runtime, at("echo"), echo()).await.unwrap();
    runtime.bus().ask(TraceId::fresh(), at("echo"), work("hi")).await.unwrap();
    let start = Instant::now();
    runtime.shutdown(GRACE).await;
    runtime.shutdown(GRACE).await;
    assert_eq!(start.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn open_asks_are_waited_for() {
    let runtime = Runtime::for_tests();
    let slow = does(|ask, context| {
        let held = ask.clone();
        context.run(&ask, |_| Body::new(done("?")), async move {
            tokio::time::sleep(Duration::from_secs(2)).await;
            Draft::ending(&held, done("slowly"))
        });
    });
    runtime.register(Place::Runtime, at("slow"), slow).await.unwrap();
    let mut open = ask(&runtime, TraceId::fresh(), "slow", "?");
    let start = Instant::now();
    runtime.shutdown(GRACE).await;
    assert!(start.elapsed() >= Duration::from_secs(2) && start.elapsed() < Duration::from_secs(3));
    assert_eq!(said(&open.end().await.unwrap()), "slowly");
}

#[tokio::test(start_paused = true)]
async fn after_the_grace_what_is_open_stays_open_in_the_journal() {
    let runtime = Runtime::for_tests();
    let (silent, mut heard) = recorder();
    runtime.register(Place::Runtime, at("silent"), silent).await.unwrap();
    let mut open = ask(&runtime, TraceId::fresh(), "silent", "?");
    let start = Instant::now();
    runtime.shutdown(GRACE).await;
    assert!(start.elapsed() >= GRACE && start.elapsed() < 2 * GRACE);

    assert_eq!(open.end().await.unwrap_err().reason, "it was shut down");
    heard.recv().await.unwrap();
    assert!(heard.recv().await.is_none(), "the mailbox is closed");
    assert_eq!(flow(&runtime), "e1 user -> silent: test.do ?\n");
    tell(&runtime, TraceId::fresh(), "silent", "this goes nowhere");
    assert!(runtime.register(Place::Runtime, at("new"), echo()).await.is_err());
}

#[tokio::test]
async fn dropping_the_runtime_stops_it_without_waiting() {
    let runtime = Runtime::for_tests();
    let (silent, mut heard) = recorder();
    runtime.register(Place::Runtime, at("silent"), silent).await.unwrap();
    let mut open = ask(&runtime, TraceId::fresh(), "silent", "?");
    heard.recv().await.unwrap();
    drop(runtime);
    assert!(open.end().await.is_err());
    assert!(heard.recv().await.is_none());
}

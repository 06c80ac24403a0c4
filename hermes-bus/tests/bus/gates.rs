//! Gates: they hold an envelope after it is journaled, before it is delivered.

use std::time::Duration;

use hermes_bus::*;
use tokio::time::Instant;

use crate::support::*;

/// A runtime with the actor `held`, of which a gate holds what begins with `stop`, and the actor `free`.
async fn gated() -> (Runtime, Gate, tokio::sync::mpsc::UnboundedReceiver<std::sync::Arc<Envelope>>) {
    let runtime = Runtime::for_tests();
    let (held, heard) = recorder();
    runtime.register(Place::Runtime, at("held"), held).await.unwrap();
    runtime.register(Place::Runtime, at("free"), echo()).await.unwrap();
    let gate = runtime.gate(|envelope| said(envelope).starts_with("stop"));
    (runtime, gate, heard)
}

#[tokio::test]
async fn a_hold_keeps_the_whole_inbox_in_order_while_others_go_on() {
    let (runtime, mut gate, mut heard) = gated().await;
    let trace = TraceId::fresh();
    for what in ["a", "stop 1", "b", "stop 2", "c"] {
        tell(&runtime, trace, "held", what);
    }
    assert_eq!(runtime.bus().ask(trace, at("free"), work("hi")).await.unwrap().what, "hi");
    let first = gate.next().await.unwrap();
    assert_eq!(said(first.envelope()), "stop 1");
    assert_eq!(read_all(&**runtime.journal()).unwrap().len(), 7, "held or not, all is journaled");
    assert_eq!(said(&heard.recv().await.unwrap()), "a");
    assert!(heard.try_recv().is_err());

    first.release();
    let second = gate.next().await.unwrap();
    assert_eq!(said(second.envelope()), "stop 2");
    second.release();

    for what in ["stop 1", "b", "stop 2", "c"] {
        assert_eq!(said(&heard.recv().await.unwrap()), what);
    }
}

#[tokio::test]
async fn a_rejected_ask_ends_and_a_rejected_event_goes_on() {
    let (runtime, mut gate, mut heard) = gated().await;
    let trace = TraceId::fresh();
    let mut open = ask(&runtime, trace, "held", "stop");
    news(&runtime, trace, open.ask(), "held", "stop: an event");

    gate.next().await.unwrap().reject("not today");
    gate.next().await.unwrap().reject("in vain");

    assert_eq!(failure(&mut open).await, (FailureKind::Rejected, "not today".to_owned()));
    assert_eq!(said(&heard.recv().await.unwrap()), "stop: an event");
}

#[tokio::test]
async fn a_held_envelope_that_is_dropped_is_released() {
    let (runtime, mut gate, mut heard) = gated().await;
    tell(&runtime, TraceId::fresh(), "held", "stop");
    drop(gate.next().await);
    assert_eq!(said(&heard.recv().await.unwrap()), "stop");
}

#[tokio::test]
async fn a_gate_that_is_dropped_releases_everything_and_holds_no_more() {
    let (runtime, mut gate, mut heard) = gated().await;
    for what in ["stop 1", "stop 2"] {
        tell(&runtime, TraceId::fresh(), "held", what);
    }
    let taken = gate.next().await.unwrap();
    drop(gate);
    drop(taken);
    tell(&runtime, TraceId::fresh(), "held", "stop 3");
    for what in ["stop 1", "stop 2", "stop 3"] {
        assert_eq!(said(&heard.recv().await.unwrap()), what);
    }
}

#[tokio::test]
async fn a_second_gate_decides_about_what_the_first_released() {
    let (runtime, mut first, mut heard) = gated().await;
    let mut second = runtime.gate(|envelope| envelope.body.kind().is_ask());
    let trace = TraceId::fresh();
    let [mut allowed, mut refused] = ["stop 1", "stop 2"].map(|what| ask(&runtime, trace, "held", what));

    for _ in 0..2 {
        first.next().await.unwrap().release();
        let held = second.next().await.unwrap();
        if said(held.envelope()) == "stop 1" { held.release() } else { held.reject("no") }
    }

    let got = heard.recv().await.unwrap();
    runtime.bus().send(Draft::ending(&got, done("allowed")));
    assert_eq!(said(&allowed.end().await.unwrap()), "allowed");
    assert_eq!(failure(&mut refused).await.0, FailureKind::Rejected);
}

#[tokio::test(start_paused = true)]
async fn timers_that_guard_a_held_ask_stand_still() {
    let (runtime, mut gate, _heard) = gated().await;
    let draft = |what: &str| {
        let draft = Draft::from_user(TraceId::fresh(), at("held"), work(what));
        draft.expires_after(Duration::from_secs(10))
    };
    let mut held = runtime.bus().request(draft("stop"));
    let mut behind = runtime.bus().request(draft("not held itself, but behind"));
    let first = gate.next().await.unwrap();

    tokio::time::sleep(Duration::from_secs(60)).await;
    let released = Instant::now();
    first.release();

    for open in [&mut held, &mut behind] {
        assert_eq!(failure(open).await.0, FailureKind::Expired);
        let waited = released.elapsed().as_secs_f64();
        assert!((9.9..10.1).contains(&waited), "{waited} s after the release");
    }
}

#[tokio::test(start_paused = true)]
async fn an_abort_does_not_wait_for_a_gate() {
    let (runtime, mut gate, _heard) = gated().await;
    let aborter = does(|envelope, context| {
        context.abort(envelope.trace_id, envelope.parent_id.unwrap(), Duration::from_secs(1));
    });
    runtime.register(Place::Runtime, at("aborter"), aborter).await.unwrap();
    let trace = TraceId::fresh();
    let mut open = ask(&runtime, trace, "held", "stop");
    let _held = gate.next().await.unwrap();
    news(&runtime, trace, open.ask(), "aborter", "abort");
    assert_eq!(failure(&mut open).await.0, FailureKind::Expired);
}

#[tokio::test]
async fn a_held_ask_that_ends_meanwhile_is_not_delivered() {
    let (runtime, mut gate, mut heard) = gated().await;
    let trace = TraceId::fresh();
    let mut open = ask(&runtime, trace, "held", "stop");
    tell(&runtime, trace, "held", "behind");
    let held = gate.next().await.unwrap();
    let end = Draft::from_user(trace, at("held"), done("cancelled")).with_parent(open.ask());
    runtime.bus().send(end.in_reply_to(open.ask()));
    assert_eq!(said(&open.end().await.unwrap()), "cancelled");

    held.release();

    assert_eq!(said(&heard.recv().await.unwrap()), "behind");
}

#[tokio::test]
async fn a_gate_whose_predicate_panics_holds() {
    let runtime = Runtime::for_tests();
    runtime.register(Place::Runtime, at("echo"), echo()).await.unwrap();
    let mut gate = runtime.gate(|envelope| panic!("what is {}?", envelope.body.name()));
    let mut open = ask(&runtime, TraceId::fresh(), "echo", "hi");
    gate.next().await.unwrap().release();
    assert_eq!(said(&open.end().await.unwrap()), "hi");
}

#[tokio::test]
async fn a_gate_ends_with_its_runtime() {
    let (runtime, mut gate, _heard) = gated().await;
    runtime.shutdown(Duration::ZERO).await;
    assert!(gate.next().await.is_none());
}

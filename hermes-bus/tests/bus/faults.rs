//! Faults of handlers: an actor is made anew in place, until it dies too often.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use expect_test::expect;
use hermes_bus::*;

use crate::support::*;

/// Answers `hi`, dies of `fail` and `panic`, runs a body for `run`, keeps all else.
fn mortal() -> impl Factory {
    may_fail(|ask, context| {
        match &*said(&ask) {
            "hi" => context.reply(&ask, done("hi")),
            "fail" => return Err("it failed".into()),
            "panic" => panic!("it panicked"),
            "run" => {
                let held = ask.clone();
                context.run(&ask, |_| Body::new(done("?")), async move {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    Draft::ending(&held, done("ran"))
                });
            }
            _ => {}
        }
        Ok(())
    })
}

#[tokio::test(start_paused = true)]
async fn an_actor_that_dies_is_made_anew_and_its_mailbox_is_kept() {
    let runtime = Runtime::for_tests();
    runtime.register(Place::Runtime, at("actor"), mortal()).await.unwrap();
    let trace = TraceId::fresh();

    let [mut kept, mut running, mut fatal, mut unread] =
        ["keep", "run", "panic", "hi"].map(|what| ask(&runtime, trace, "actor", what));

    let died = (FailureKind::Restarted, "its receiver died: it panicked".to_owned());
    assert_eq!(failure(&mut fatal).await, died);
    assert_eq!(failure(&mut kept).await, died, "it had been taken, and nobody works on it");
    assert_eq!(said(&unread.end().await.unwrap()), "hi", "it was still in the mailbox");
    assert_eq!(said(&running.end().await.unwrap()), "ran", "a running body goes on");
}

#[tokio::test]
async fn an_error_is_a_fault_like_a_panic() {
    let runtime = Runtime::for_tests();
    runtime.register(Place::Runtime, at("actor"), mortal()).await.unwrap();
    let mut fatal = ask(&runtime, TraceId::fresh(), "actor", "fail");
    assert_eq!(failure(&mut fatal).await.1, "its receiver died: it failed");
    assert_eq!(runtime.bus().ask(TraceId::fresh(), at("actor"), work("hi")).await.unwrap().what, "hi");
}

#[tokio::test]
async fn dying_of_an_interim_envelope_ends_what_was_taken_before() {
    let runtime = Runtime::for_tests();
    let dies_of_delta =
        may_fail(
            |envelope, _| {
                if envelope.body.is::<Delta>() { Err("a delta killed it".into()) } else { Ok(()) }
            },
        );
    runtime.register(Place::Runtime, at("actor"), dies_of_delta).await.unwrap();
    let trace = TraceId::fresh();
    let mut taken = ask(&runtime, trace, "actor", "?");
    runtime.bus().send(Draft::from_user(trace, at("actor"), Delta::from("…")));
    assert_eq!(failure(&mut taken).await.1, "its receiver died: a delta killed it");
}

#[tokio::test(start_paused = true)]
async fn the_fourth_fault_in_a_minute_is_the_last() {
    let runtime = Runtime::for_tests();
    runtime.register(Place::Runtime, at("actor"), mortal()).await.unwrap();
    let die = async || failure(&mut ask(&runtime, TraceId::fresh(), "actor", "fail")).await;
    for _ in 0..3 {
        assert_eq!(die().await.0, FailureKind::Restarted);
    }
    tokio::time::advance(Duration::from_secs(61)).await;
    for _ in 0..3 {
        assert_eq!(die().await.0, FailureKind::Restarted);
    }
    let trace = TraceId::fresh();
    let mut open = ["keep", "run", "fail", "hi"].map(|what| ask(&runtime, trace, "actor", what));
    for open in &mut open {
        assert_eq!(failure(open).await.0, FailureKind::Restarted, "everything it had is ended");
    }
    assert_eq!(die().await, (FailureKind::Undelivered, "no actor has the address `actor`".to_owned()));
    runtime.register(Place::Runtime, at("actor"), echo()).await.unwrap();
}

#[tokio::test]
async fn a_factory_that_fails_gives_the_address_back() {
    struct Fails;
    impl Factory for Fails {
        type Actor = Box<dyn Actor>;
        fn make(&mut self, _: Birth, _: &Context) -> Result<Self::Actor, Fault> {
            Err("no disk".into())
        }
    }
    let runtime = Runtime::for_tests();
    let refused = runtime.register(Place::Runtime, at("actor"), Fails).await.unwrap_err();
    assert_eq!(refused.to_string(), "the actor `actor` could not be started: no disk");
    runtime.register(Place::Runtime, at("actor"), echo()).await.unwrap();

    // Without waiting: what was sent meanwhile is ended.
    runtime.bus().place(Place::Runtime, at("unlucky"), Fails).unwrap();
    let mut lost = ask(&runtime, TraceId::fresh(), "unlucky", "?");
    assert_eq!(failure(&mut lost).await, (FailureKind::Restarted, "its receiver died: no disk".to_owned()));
}

/// Adds up what it is asked for; dies when it should add `x`. Rebuilt from what is written down elsewhere.
struct Till {
    written: Arc<AtomicUsize>,
    last_words: bool,
}

struct Adds {
    total: usize,
    written: Arc<AtomicUsize>,
}

impl Factory for Till {
    type Actor = Adds;
    const REBUILDS: bool = true;
    fn make(&mut self, _: Birth, _: &Context) -> Result<Adds, Fault> {
        let total = self.written.load(Ordering::SeqCst);
        Ok(Adds { total, written: self.written.clone() })
    }
    fn lost(&self, _: &Envelope, reason: &str) -> Option<Body> {
        assert!(self.last_words, "even this panic is survived");
        Some(Body::new(done(format!("with my last breath: {reason}"))))
    }
}

impl Actor for Adds {
    fn handle(&mut self, ask: Arc<Envelope>, context: &Context) -> Result<(), Fault> {
        match said(&ask).parse::<usize>() {
            Ok(amount) => {
                self.total += amount;
                self.written.store(self.total, Ordering::SeqCst);
                context.reply(&ask, done(self.total.to_string()));
                Ok(())
            }
            Err(_) => Err("not a number".into()),
        }
    }
}

#[tokio::test]
async fn an_actor_that_is_rebuilt_keeps_what_it_had_taken() {
    let runtime = Runtime::for_tests();
    let till = Till { written: Arc::default(), last_words: true };
    runtime.register(Place::Runtime, at("till"), till).await.unwrap();
    let trace = TraceId::fresh();
    let [mut one, mut fatal, mut two] = ["1", "x", "2"].map(|what| ask(&runtime, trace, "till", what));

    assert_eq!(said(&one.end().await.unwrap()), "1");
    assert_eq!(said(&two.end().await.unwrap()), "3", "its successor goes on where it was");

    // The ask it died of stays open: its successor may still end it. Given up, it has last words for it.
    for _ in 0..3 {
        ask(&runtime, trace, "till", "x");
    }
    assert_eq!(said(&fatal.end().await.unwrap()), "with my last breath: not a number");
}

#[tokio::test]
async fn a_panic_in_the_last_words_is_survived() {
    let runtime = Runtime::for_tests();
    let till = Till { written: Arc::default(), last_words: false };
    runtime.register(Place::Runtime, at("till"), till).await.unwrap();
    let mut fatal = [(); 4].map(|()| ask(&runtime, TraceId::fresh(), "till", "x"));
    for fatal in &mut fatal {
        assert_eq!(
            failure(fatal).await,
            (FailureKind::Restarted, "its receiver died: not a number".to_owned())
        );
    }
}

#[tokio::test]
async fn a_fault_while_a_trace_is_closed_restarts_as_well() {
    struct Forgetful;
    impl Factory for Forgetful {
        type Actor = Forgetful;
        const REMEMBERS_TRACES: bool = true;
        fn make(&mut self, _: Birth, _: &Context) -> Result<Forgetful, Fault> {
            Ok(Forgetful)
        }
    }
    impl Actor for Forgetful {
        fn handle(&mut self, ask: Arc<Envelope>, context: &Context) -> Result<(), Fault> {
            context.reply(&ask, done("well"));
            Ok(())
        }
        fn trace_closed(&mut self, _: TraceId) {
            panic!("it panicked");
        }
    }
    let runtime = Runtime::for_tests();
    runtime.register(Place::Runtime, at("actor"), Forgetful).await.unwrap();
    let answers = async || runtime.bus().ask(TraceId::fresh(), at("actor"), work("?")).await.is_ok();
    assert!(answers().await && answers().await && answers().await);
}

#[tokio::test]
async fn the_journal_of_a_restart() {
    let runtime = Runtime::for_tests();
    runtime.register(Place::Runtime, at("actor"), mortal()).await.unwrap();
    let trace = TraceId::fresh();
    let [_kept, mut fatal] = ["keep", "fail"].map(|what| ask(&runtime, trace, "actor", what));
    fatal.end().await.unwrap();
    expect![[r#"
        e1 user -> actor: test.do keep
        e2 user -> actor: test.do fail
        e3 actor -> user: envelope.failed restarted: its receiver died: it failed (ends e1)
        e4 actor -> user: envelope.failed restarted: its receiver died: it failed (ends e2)
    "#]]
    .assert_eq(&flow(&runtime));
}

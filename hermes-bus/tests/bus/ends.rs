//! Ends: an ask has one; bodies run outside of handlers and give it later.

use expect_test::expect;
use hermes_bus::*;
use tokio::sync::{mpsc, oneshot};

use crate::support::*;

#[tokio::test]
async fn a_second_end_is_late_journaled_and_never_delivered() {
    let runtime = Runtime::for_tests();
    let (curious, mut got) = asks("twice");
    let twice = does(|ask, context| {
        context.reply(&ask, done("first"));
        context.reply(&ask, done("second"));
    });
    runtime.register(Place::Runtime, at("curious"), curious).await.unwrap();
    runtime.register(Place::Runtime, at("twice"), twice).await.unwrap();

    tell(&runtime, TraceId::fresh(), "curious", "?");

    assert_eq!(said(&got.recv().await.unwrap()), "first");
    settled(&runtime).await;
    assert!(got.try_recv().is_err(), "the second one is delivered to nobody");
    let flow = flow(&runtime);
    assert!(flow.contains("e3 twice -> curious: test.done first (ends e2)\n"), "{flow}");
    assert!(flow.contains("e4 twice -> curious: test.done second (ends e2) late\n"), "{flow}");
}

/// Runs a body for each ask: it begins with a note, then waits to be told how to end.
fn bodies() -> (impl Factory, mpsc::UnboundedReceiver<oneshot::Sender<&'static str>>) {
    let (to, begun) = mpsc::unbounded_channel();
    let factory = does(move |ask, context| {
        let (to, bus, held) = (to.clone(), context.bus().clone(), ask.clone());
        context.run(&ask, |_| Body::new(done("it panicked")), async move {
            let note = Draft::caused_by(&held, at("tool"), at("tool"), News::from("started"));
            let _begun = bus.begin(&held, note).await;
            let (tell, told) = oneshot::channel();
            to.send(tell).unwrap_or_default();
            Draft::ending(&held, done(told.await.unwrap()))
        });
    });
    (factory, begun)
}

#[tokio::test]
async fn the_end_of_a_begun_ask_says_so() {
    let runtime = Runtime::for_tests();
    let (tool, mut begun) = bodies();
    runtime.register(Place::Runtime, at("tool"), tool).await.unwrap();

    let mut open = ask(&runtime, TraceId::fresh(), "tool", "run");
    begun.recv().await.unwrap().send("sunny").unwrap();

    assert_eq!(said(&open.end().await.unwrap()), "sunny");
    expect![[r#"
        e1 user -> tool: test.do run
        e2 tool -> tool: test.news started
        e3 tool -> user: test.done sunny (ends e1) begun
    "#]]
    .assert_eq(&flow(&runtime));
}

#[tokio::test]
async fn a_panic_in_a_body_ends_its_ask_and_the_actor_lives() {
    let runtime = Runtime::for_tests();
    let (tool, mut begun) = bodies();
    runtime.register(Place::Runtime, at("tool"), tool).await.unwrap();

    let mut open = ask(&runtime, TraceId::fresh(), "tool", "run");
    drop(begun.recv().await.unwrap()); // The body unwraps what it is not told.
    assert_eq!(said(&open.end().await.unwrap()), "it panicked");

    let mut again = ask(&runtime, TraceId::fresh(), "tool", "run");
    begun.recv().await.unwrap().send("well").unwrap();
    assert_eq!(said(&again.end().await.unwrap()), "well");
}

#[tokio::test]
async fn a_body_that_panics_again_when_it_is_dropped_still_ends_its_ask() {
    struct PanicsInDrop;
    impl Drop for PanicsInDrop {
        fn drop(&mut self) {
            // While unwinding it would abort the process.
            assert!(std::thread::panicking(), "it panics again");
        }
    }
    let runtime = Runtime::for_tests();
    let tool = does(|ask, context| {
        let (bomb, mut polled) = (PanicsInDrop, false);
        let body = std::future::poll_fn(move |_| {
            let _held = &bomb;
            assert!(std::mem::replace(&mut polled, true), "the body panics at once");
            std::task::Poll::<Draft>::Pending
        });
        context.run(&ask, |_| Body::new(done("it panicked")), body);
    });
    runtime.register(Place::Runtime, at("tool"), tool).await.unwrap();
    assert_eq!(said(&ask(&runtime, TraceId::fresh(), "tool", "run").end().await.unwrap()), "it panicked");
}

/// Once such an ask stayed open for ever: the panic came after the body, where nobody caught it.
#[tokio::test]
async fn an_end_that_panics_when_it_is_written_is_an_end_all_the_same() {
    #[derive(serde::Deserialize)]
    struct Unwritable;
    impl serde::Serialize for Unwritable {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            panic!("not in words")
        }
    }
    impl Payload for Unwritable {
        const NAME: &'static str = "test.unwritable";
        const KIND: Kind = Kind::Event;
    }
    impl Event for Unwritable {}
    let runtime = Runtime::for_tests();
    let tool = does(|ask, context| {
        let held = ask.clone();
        let body = async move { Draft::ending(&held, Unwritable) };
        context.run(&ask, |_| Body::new(done("it panicked")), body);
    });
    runtime.register(Place::Runtime, at("tool"), tool).await.unwrap();
    let mut open = ask(&runtime, TraceId::fresh(), "tool", "run");
    let why = "its end cannot be written: not in words";
    assert_eq!(failure(&mut open).await, (FailureKind::Unacceptable, why.to_owned()));
}

#[tokio::test]
async fn an_ask_that_another_ends_drops_its_body() {
    let runtime = Runtime::for_tests();
    let (tool, mut begun) = bodies();
    runtime.register(Place::Runtime, at("tool"), tool).await.unwrap();
    let trace = TraceId::fresh();
    let mut open = ask(&runtime, trace, "tool", "run");
    let mut body = begun.recv().await.unwrap();

    let end = Draft::from_user(trace, at("tool"), done("cancelled"));
    runtime.bus().send(end.with_parent(open.ask()).in_reply_to(open.ask()));

    assert_eq!(said(&open.end().await.unwrap()), "cancelled");
    body.closed().await; // What the body held is dropped with it.
}

#[tokio::test]
async fn the_end_of_a_body_that_comes_after_another_is_late() {
    let runtime = Runtime::for_tests();
    let tool =
        does(|ask, context| {
            let held = ask.clone();
            context.run(&ask, |_| Body::new(done("it panicked")), async move {
                Draft::ending(&held, done("mine"))
            });
            context.reply(&ask, done("already over"));
        });
    runtime.register(Place::Runtime, at("tool"), tool).await.unwrap();

    // On one thread the handler is done before the body starts; the writer comes last and sees both.
    assert_eq!(said(&ask(&runtime, TraceId::fresh(), "tool", "run").end().await.unwrap()), "already over");
    settled(&runtime).await;

    expect![[r#"
        e1 user -> tool: test.do run
        e2 tool -> user: test.done already over (ends e1)
        e3 tool -> user: test.done mine (ends e1) late
    "#]]
    .assert_eq(&flow(&runtime));
}

#[tokio::test]
async fn nothing_begins_after_the_end() {
    let runtime = Runtime::for_tests();
    let (silent, mut got) = recorder();
    runtime.register(Place::Runtime, at("tool"), silent).await.unwrap();
    let mut open = ask(&runtime, TraceId::fresh(), "tool", "run");
    let asked = got.recv().await.unwrap();

    runtime.bus().send(Draft::ending(&asked, done("cancelled")));
    let note = Draft::caused_by(&asked, at("tool"), at("tool"), News::from("started"));
    assert!(!runtime.bus().begin(&asked, note).await);

    open.end().await.unwrap();
    expect![[r#"
        e1 user -> tool: test.do run
        e2 tool -> user: test.done cancelled (ends e1)
    "#]]
    .assert_eq(&flow(&runtime));
}

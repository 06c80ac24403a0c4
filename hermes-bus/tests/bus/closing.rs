//! Closing: the last step of an actor ends what is left, then its address is gone.

use expect_test::expect;
use hermes_bus::*;

use crate::support::*;

/// A task: it asks `tool` for help and, when it hears `finish`, ends the ask that began it and is gone.
fn task() -> impl Factory {
    let first = std::sync::Arc::new(std::sync::Mutex::new(None));
    does(move |envelope, context| match &*said(&envelope) {
        "start" => {
            context.ask(&envelope, at("tool"), work("help"));
            *first.lock().unwrap() = Some(envelope);
        }
        "finish" => {
            let first = first.lock().unwrap().take().unwrap();
            context.send(Draft::ending(&first, done("finished")).closing());
            context.send(Draft::caused_by(&envelope, at("task"), at("tool"), News::from("said by the dead")));
        }
        _ => {}
    })
}

#[tokio::test]
async fn a_closing_step_ends_what_is_below_and_what_is_unread_then_the_ask_then_the_address_is_gone() {
    let runtime = Runtime::for_tests();
    let trace = TraceId::fresh();
    runtime.register(Place::Trace(trace), at("task"), task()).await.unwrap();
    runtime.register(Place::Runtime, at("tool"), recorder().0).await.unwrap();
    let mut start = ask(&runtime, trace, "task", "start");
    start.journaled().await.unwrap();

    let [_finish, mut unread] = ["finish", "unread"].map(|what| ask(&runtime, trace, "task", what));

    assert_eq!(said(&start.end().await.unwrap()), "finished");
    assert_eq!(
        failure(&mut unread).await,
        (FailureKind::Undelivered, "its receiver has finished".to_owned())
    );
    let mut crossing = ask(&runtime, trace, "task", "too late");
    assert_eq!(failure(&mut crossing).await.1, "no actor has the address `task`");
    expect![[r#"
        e1 user -> task: test.do start
        e2 task -> tool: test.do help
        e3 user -> task: test.do finish
        e4 user -> task: test.do unread
        e5 task -> user: envelope.failed undelivered: its receiver has finished (ends e3)
        e6 task -> user: envelope.failed undelivered: its receiver has finished (ends e4)
        e7 tool -> task: envelope.failed expired: what it was asked for has ended (ends e2)
        e8 task -> user: test.done finished (ends e1)
        e9 user -> task: test.do too late
        e10 task -> user: envelope.failed undelivered: no actor has the address `task` (ends e9)
    "#]]
    .assert_eq(&flow(&runtime));
}

#[tokio::test]
async fn a_task_whose_ask_has_ended_without_it_says_no_more() {
    let runtime = Runtime::for_tests();
    let trace = TraceId::fresh();
    runtime.register(Place::Trace(trace), at("task"), task()).await.unwrap();
    let (tool, mut heard) = recorder();
    runtime.register(Place::Runtime, at("tool"), tool).await.unwrap();
    let start = Draft::from_user(trace, at("task"), work("start"));
    let mut start = runtime.bus().request(start.expires_after(std::time::Duration::ZERO));

    assert_eq!(failure(&mut start).await.0, FailureKind::Expired);
    tell(&runtime, trace, "task", "finish");
    settled(&runtime).await;

    while let Ok(envelope) = heard.try_recv() {
        assert_eq!(said(&envelope), "help");
    }
    let flow = flow(&runtime);
    assert!(!flow.contains("finished") && !flow.contains("dead"), "{flow}");
}

#[tokio::test]
async fn a_fresh_address_can_be_used_before_its_actor_is_made() {
    let runtime = Runtime::for_tests();
    let trace = TraceId::fresh();
    runtime.bus().place(Place::Trace(trace), at("task#2"), echo()).unwrap();
    assert_eq!(runtime.bus().ask(trace, at("task#2"), work("hi")).await.unwrap().what, "hi");
}

#[tokio::test]
async fn an_actor_that_comes_after_the_end_is_not_left_running() {
    let runtime = Runtime::for_tests();
    runtime.shutdown(std::time::Duration::ZERO).await;
    let late = runtime.register(Place::Runtime, at("late"), echo()).await;
    assert!(matches!(late, Err(RegisterError::NotStarted(..))), "{late:?}");
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    assert_eq!(tokio::runtime::Handle::current().metrics().num_alive_tasks(), 0);
}

#[tokio::test]
async fn what_was_delivered_below_an_ask_that_ends_is_not_called_undelivered() {
    let runtime = Runtime::for_tests();
    let (held, mut got) = asks("leaf");
    runtime.register(Place::Runtime, at("middle"), held).await.unwrap();
    let (leaf, mut at_leaf) = recorder();
    runtime.register(Place::Runtime, at("leaf"), leaf).await.unwrap();
    let trace = TraceId::fresh();
    let told = Draft::from_user(trace, at("middle"), Tell::from("help"));
    let id = told.id();
    runtime.bus().send(told);
    at_leaf.recv().await.unwrap();
    let end = Draft::from_user(trace, at("middle"), done("enough"));
    runtime.bus().send(end.with_parent(id).in_reply_to(id));
    let end = got.recv().await.unwrap();
    assert_eq!(end.get::<EnvelopeFailed>().unwrap().kind, FailureKind::Expired);
}

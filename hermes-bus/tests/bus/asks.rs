//! Asks and how they are answered.

use expect_test::expect;
use hermes_bus::*;

use crate::support::*;

#[tokio::test]
async fn an_ask_is_journaled_delivered_and_answered() {
    let runtime = Runtime::for_tests();
    runtime.register(Place::Runtime, at("greeter"), echo()).await.unwrap();

    let answer = runtime.bus().ask(TraceId::fresh(), at("greeter"), work("你好")).await.unwrap();

    assert_eq!(answer.what, "你好");
    expect![[r#"
        {"v":1,"seq":1,"id":"e1","trace_id":"t1","type":"command","name":"test.do","sender":"user","receiver":"greeter","parent_id":null,"payload":{"what":"你好"}}
        {"v":1,"seq":2,"id":"e2","trace_id":"t1","type":"event","name":"test.done","sender":"greeter","receiver":"user","parent_id":"e1","in_reply_to":"e1","payload":{"what":"你好"}}
    "#]]
    .assert_eq(&lines(&runtime));
}

#[tokio::test]
async fn an_actor_asks_another_and_gets_the_end_in_its_mailbox() {
    let runtime = Runtime::for_tests();
    let (curious, mut got) = asks("greeter");
    runtime.register(Place::Runtime, at("curious"), curious).await.unwrap();
    runtime.register(Place::Runtime, at("greeter"), echo()).await.unwrap();

    tell(&runtime, TraceId::fresh(), "curious", "hi");

    assert_eq!(said(&got.recv().await.unwrap()), "hi");
    expect![[r#"
        e1 user -> curious: test.tell hi
        e2 curious -> greeter: test.do hi
        e3 greeter -> curious: test.done hi (ends e2)
    "#]]
    .assert_eq(&flow(&runtime));
}

#[tokio::test]
async fn an_ask_to_nobody_ends_undelivered() {
    let runtime = Runtime::for_tests();

    let error = runtime.bus().ask(TraceId::fresh(), at("nobody"), work("?")).await.unwrap_err();

    assert!(matches!(error, AskError::Undone(FailureKind::Undelivered, _)), "{error}");
    expect![[r#"
        e1 user -> nobody: test.do ?
        e2 nobody -> user: envelope.failed undelivered: no actor has the address `nobody` (ends e1)
    "#]]
    .assert_eq(&flow(&runtime));
}

#[tokio::test]
async fn an_ask_ends_with_the_failure_of_its_receiver_or_with_something_that_cannot_be_read() {
    let runtime = Runtime::for_tests();
    let refuses = does(|ask, context| context.reply(&ask, Refused::from("not today")));
    let babbles = does(|ask, context| context.reply(&ask, News::from("?")));
    runtime.register(Place::Runtime, at("refuses"), refuses).await.unwrap();
    runtime.register(Place::Runtime, at("babbles"), babbles).await.unwrap();

    let ask =
        async |receiver| runtime.bus().ask(TraceId::fresh(), at(receiver), work("?")).await.unwrap_err();

    assert!(matches!(ask("refuses").await, AskError::Failed(Refused { what }) if what == "not today"));
    assert!(
        matches!(ask("babbles").await, AskError::Unreadable(why) if why == "it was answered by `test.news`")
    );
}

#[tokio::test]
async fn what_an_actor_does_not_understand_it_ends_as_unacceptable() {
    let runtime = Runtime::for_tests();
    let picky = does(|ask, context| context.unacceptable(&ask, "I only know `test.undo`"));
    runtime.register(Place::Runtime, at("picky"), picky).await.unwrap();

    let trace = TraceId::fresh();
    let mut open = ask(&runtime, trace, "picky", "?");
    news(&runtime, trace, open.ask(), "picky", "an event is ignored");
    let end = failure(&mut open).await;

    assert_eq!(end, (FailureKind::Unacceptable, "I only know `test.undo`".to_owned()));
}

#[tokio::test]
async fn a_waiter_may_be_dropped_and_asked_again() {
    let runtime = Runtime::for_tests();
    let (silent, mut got) = recorder();
    runtime.register(Place::Runtime, at("silent"), silent).await.unwrap();
    let mut pending = ask(&runtime, TraceId::fresh(), "silent", "?");

    let never = std::future::ready(());
    tokio::select! { biased; _ = pending.journaled() => {}, () = never => {} }
    pending.journaled().await.unwrap();
    pending.journaled().await.unwrap();

    runtime.bus().send(Draft::ending(&got.recv().await.unwrap(), done("late but well")));
    assert_eq!(said(&pending.end().await.unwrap()), "late but well");
    assert!(pending.end().await.unwrap_err().reason.contains("was given before"));
}

#[tokio::test]
async fn an_end_goes_to_the_asker_whatever_receiver_is_written() {
    let runtime = Runtime::for_tests();
    let misdirects = does(|ask, context| {
        context.send(Draft::ending(&ask, done("for you")).with_receiver(Address::finally()));
    });
    runtime.register(Place::Runtime, at("agent"), misdirects).await.unwrap();

    let answer = runtime.bus().ask(TraceId::fresh(), at("agent"), work("?")).await.unwrap();

    assert_eq!(answer.what, "for you");
    expect![[r#"
        e1 user -> agent: test.do ?
        e2 agent -> final: test.done for you (ends e1)
    "#]]
    .assert_eq(&flow(&runtime));
}

#[tokio::test]
async fn what_an_ask_was_needed_for_ends_after_it() {
    let runtime = Runtime::for_tests();
    let hasty = does(|envelope, context| {
        if envelope.get::<Do>().is_ok() {
            context.ask(&envelope, at("silent"), work("help me"));
            context.reply(&envelope, done("alone"));
            context.ask(&envelope, at("silent"), work("too late"));
        }
    });
    runtime.register(Place::Runtime, at("hasty"), hasty).await.unwrap();
    runtime.register(Place::Runtime, at("silent"), recorder().0).await.unwrap();

    runtime.bus().ask(TraceId::fresh(), at("hasty"), work("go")).await.unwrap();
    settled(&runtime).await;

    expect![[r#"
        e1 user -> hasty: test.do go
        e2 hasty -> silent: test.do help me
        e3 silent -> hasty: envelope.failed undelivered: what it was asked for has ended (ends e2)
        e4 hasty -> user: test.done alone (ends e1)
        e5 hasty -> silent: test.do too late
        e6 silent -> hasty: envelope.failed undelivered: what it was asked for has ended (ends e5)
    "#]]
    .assert_eq(&flow(&runtime));
}

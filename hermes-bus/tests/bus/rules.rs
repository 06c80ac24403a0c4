//! Rules: they judge each envelope before it is journaled.

use std::sync::Arc;

use expect_test::expect;
use hermes_bus::journal::MemoryJournal;
use hermes_bus::*;

use crate::support::*;

/// Calls things by their proper names, and forbids some.
fn censor(draft: &Draft) -> Verdict {
    match draft.body().get::<Do>() {
        Ok(asked) if asked.what == "darn" => Verdict::Replace(Body::new(work("d***"))),
        Ok(asked) if asked.what == "rm -rf /" => Verdict::Reject("not here".to_owned()),
        _ => Verdict::Pass,
    }
}

fn ruled(rule: impl Rule) -> Runtime {
    Runtime::tests_builder(Arc::new(MemoryJournal::new())).rule("censor", rule).start()
}

#[tokio::test]
async fn what_a_rule_passes_is_as_it_was() {
    let runtime = ruled(censor);
    runtime.register(Place::Runtime, at("echo"), echo()).await.unwrap();
    assert_eq!(runtime.bus().ask(TraceId::fresh(), at("echo"), work("hi")).await.unwrap().what, "hi");
    assert!(!lines(&runtime).contains("meta"));
}

#[tokio::test]
async fn what_a_rule_puts_in_its_place_is_journaled_and_delivered_and_the_id_is_kept() {
    let runtime = ruled(censor);
    runtime.register(Place::Runtime, at("echo"), echo()).await.unwrap();
    assert_eq!(runtime.bus().ask(TraceId::fresh(), at("echo"), work("darn")).await.unwrap().what, "d***");
    expect![[r#"
        {"v":1,"seq":1,"id":"e1","trace_id":"t1","type":"command","name":"test.do","sender":"user","receiver":"echo","parent_id":null,"meta":{"rule":"censor"},"payload":{"what":"d***"}}
        {"v":1,"seq":2,"id":"e2","trace_id":"t1","type":"event","name":"test.done","sender":"echo","receiver":"user","parent_id":"e1","in_reply_to":"e1","payload":{"what":"d***"}}
    "#]]
    .assert_eq(&lines(&runtime));
}

#[tokio::test]
async fn an_ask_that_a_rule_rejects_is_journaled_and_ended() {
    let runtime = ruled(censor);
    let (shell, mut heard) = recorder();
    runtime.register(Place::Runtime, at("shell"), shell).await.unwrap();
    let mut open = ask(&runtime, TraceId::fresh(), "shell", "rm -rf /");

    assert_eq!(failure(&mut open).await, (FailureKind::Rejected, "not here".to_owned()));
    settled(&runtime).await;

    assert!(heard.try_recv().is_err(), "its receiver never sees it");
    expect![[r#"
        e1 user -> shell: test.do rm -rf /
        e2 shell -> user: envelope.failed rejected: not here (ends e1)
    "#]]
    .assert_eq(&flow(&runtime));
}

#[tokio::test]
async fn an_event_can_be_replaced_but_not_rejected_or_renamed() {
    let runtime = ruled(|draft: &Draft| match draft.body().get::<Done>() {
        Ok(end) if end.what == "secret" => Verdict::Replace(Body::new(done("***"))),
        Ok(end) if end.what == "other" => Verdict::Replace(Body::new(Refused::from("renamed"))),
        Ok(_) => Verdict::Reject("no end at all?".to_owned()),
        Err(_) => Verdict::Pass,
    });
    runtime.register(Place::Runtime, at("echo"), echo()).await.unwrap();
    let answer = async |what| runtime.bus().ask(TraceId::fresh(), at("echo"), work(what)).await.unwrap().what;
    assert_eq!(answer("secret").await, "***");
    assert_eq!(answer("other").await, "other");
    assert_eq!(answer("plain").await, "plain");
}

#[tokio::test]
async fn rules_judge_in_their_order_and_descendants_do_not_inherit_the_name_of_a_rule() {
    fn more(letter: char) -> impl Rule {
        move |draft: &Draft| match draft.body().get::<Do>() {
            Ok(asked) => Verdict::Replace(Body::new(work(format!("{}{letter}", asked.what)))),
            Err(_) => Verdict::Pass,
        }
    }
    let builder = Runtime::tests_builder(Arc::new(MemoryJournal::new()));
    let runtime = builder.rule("a", more('a')).rule("b", more('b')).start();
    runtime.register(Place::Runtime, at("echo"), echo()).await.unwrap();
    let tags = [("session".to_owned(), "7".to_owned())].into();
    let draft = Draft::from_user(TraceId::fresh(), at("echo"), work("")).with_meta(tags);

    let end = runtime.bus().request(draft).end().await.unwrap();

    assert_eq!(said(&end), "ab");
    assert_eq!(end.meta.as_deref(), Some(&[("session".to_owned(), "7".to_owned())].into()));
    assert!(lines(&runtime).contains(r#""meta":{"rule":"b","session":"7"}"#));
}

/// Once a rule that panicked on an end lost it, and whoever had asked waited for ever.
#[tokio::test]
async fn a_rule_that_panics_rejects_what_it_can_and_loses_nothing() {
    let runtime = ruled(|draft: &Draft| match draft.body().get::<Do>() {
        Ok(asked) if asked.what == "boom" => panic!("boom"),
        Ok(_) => Verdict::Pass,
        Err(_) => panic!("boom"),
    });
    runtime.register(Place::Runtime, at("echo"), echo()).await.unwrap();
    let mut open = ask(&runtime, TraceId::fresh(), "echo", "boom");
    let why = "the rule `censor` broke down: this is a bug in it";
    assert_eq!(failure(&mut open).await, (FailureKind::Rejected, why.to_owned()));
    assert_eq!(runtime.bus().ask(TraceId::fresh(), at("echo"), work("hi")).await.unwrap().what, "hi");
}

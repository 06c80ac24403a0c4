//! Payloads: typed or as JSON, well-formed or not.

use std::sync::Arc;

use expect_test::expect;
use hermes_bus::*;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::support::*;

fn raw(kind: Kind, name: &str, json: &str) -> Body {
    Body::new(RawPayload {
        name: Arc::from(name),
        kind,
        json: RawValue::from_string(json.to_owned()).unwrap(),
    })
}

/// Asks in JSON, as if over the network, and gives the end.
async fn ask_raw(runtime: &Runtime, receiver: &str, json: &str) -> Arc<Envelope> {
    let body = raw(Kind::Command, "test.do", json);
    let draft = Draft::from_outside(TraceId::fresh(), at(receiver), body);
    runtime.bus().request(draft).end().await.unwrap()
}

/// Answers a [`Do`] with its words, in whichever form it comes.
fn strict() -> impl Factory {
    does(|ask, context| match ask.get::<Do>() {
        Ok(asked) => context.reply(&ask, done(&*asked.what)),
        Err(why) => context.unacceptable(&ask, &why.to_string()),
    })
}

#[tokio::test]
async fn a_payload_is_understood_in_both_forms() {
    let runtime = Runtime::for_tests();
    runtime.register(Place::Runtime, at("strict"), strict()).await.unwrap();
    assert_eq!(runtime.bus().ask(TraceId::fresh(), at("strict"), work("typed")).await.unwrap().what, "typed");
    let end = ask_raw(&runtime, "strict", r#"{"what":"as JSON","more":1}"#).await;
    assert_eq!(said(&end), "as JSON");
}

#[tokio::test]
async fn a_wrong_shape_is_unacceptable() {
    let runtime = Runtime::for_tests();
    runtime.register(Place::Runtime, at("strict"), strict()).await.unwrap();
    let end = ask_raw(&runtime, "strict", r#"{"what":7}"#).await;
    let failed = end.get::<EnvelopeFailed>().unwrap();
    assert_eq!(failed.kind, FailureKind::Unacceptable);
    assert!(failed.message.contains("cannot read `test.do`"), "{}", failed.message);
}

#[tokio::test]
async fn json_with_line_feeds_is_still_one_line() {
    let runtime = Runtime::for_tests();
    runtime.register(Place::Runtime, at("strict"), strict()).await.unwrap();
    let end = ask_raw(&runtime, "strict", "{\r\n  \"what\": \"two\\nlines\"\n}").await;
    assert_eq!(said(&end), "two\nlines");
    assert!(lines(&runtime).contains(r#""payload":{  "what": "two\nlines"}}"#));
}

#[tokio::test]
async fn every_language_survives_the_journal() {
    let runtime = Runtime::for_tests();
    runtime.register(Place::Runtime, at("echo"), echo()).await.unwrap();
    for words in ["北京今天晴，22°C", "👩🏽‍🚀🇨🇳", "مرحبا \u{202e}abc", "a\u{0}b\u{7f}\u{2028}", "\"\\/\t"]
    {
        assert_eq!(runtime.bus().ask(TraceId::fresh(), at("echo"), work(words)).await.unwrap().what, words);
        let records = read_all(&**runtime.journal()).unwrap();
        let entry = journal::Entry::parse(records.last().unwrap()).unwrap();
        assert_eq!(serde_json::from_str::<Done>(entry.payload.get()).unwrap().what, words);
    }
}

/// A payload that is no JSON object.
#[derive(Serialize, Deserialize)]
struct Bare(u32);
impl Payload for Bare {
    const NAME: &'static str = "test.bare";
    const KIND: Kind = Kind::Command;
}
impl Ask for Bare {
    type Reply = BareEnd;
    type Failure = EnvelopeFailed;
}

#[derive(Serialize, Deserialize)]
struct BareEnd(u32);
impl Payload for BareEnd {
    const NAME: &'static str = "test.bare_end";
    const KIND: Kind = Kind::Event;
}
impl Event for BareEnd {}

#[tokio::test]
async fn a_payload_that_is_no_json_object_is_refused_and_the_runtime_lives() {
    let runtime = Runtime::for_tests();
    let (listener, mut heard) = recorder();
    runtime.register(Place::Runtime, at("listener"), listener).await.unwrap();
    runtime
        .register(Place::Runtime, at("bare"), does(|ask, context| context.reply(&ask, BareEnd(1))))
        .await
        .unwrap();

    let asked = runtime.bus().ask(TraceId::fresh(), at("listener"), Bare(1)).await;
    assert!(matches!(asked, Err(AskError::Undone(FailureKind::Unacceptable, _))));
    let answered = runtime.bus().ask(TraceId::fresh(), at("bare"), work("?")).await;
    assert!(matches!(answered, Err(AskError::Undone(FailureKind::Unacceptable, _))));

    assert!(heard.try_recv().is_err(), "nothing of it is delivered");
    expect![[r#"
        e1 user -> listener: test.bare the payload `test.bare` cannot be written: it must serialise to a JSON object
        e2 listener -> user: envelope.failed unacceptable: the payload `test.bare` cannot be written: it must serialise to a JSON object (ends e1)
        e3 user -> bare: test.do ?
        e4 bare -> user: envelope.failed unacceptable: the payload `test.bare_end` cannot be written: it must serialise to a JSON object (ends e3)
    "#]]
    .assert_eq(&flow(&runtime));
}

#[tokio::test]
async fn interim_envelopes_are_delivered_but_never_journaled() {
    let runtime = Runtime::for_tests();
    let (listener, mut heard) = recorder();
    runtime.register(Place::Runtime, at("listener"), listener).await.unwrap();
    let trace = TraceId::fresh();
    for (n, what) in ["晴", "，", "22°C"].into_iter().enumerate() {
        runtime.bus().send(Draft::from_user(trace, at("listener"), Delta::from(what)));
        tell(&runtime, trace, "listener", &n.to_string());
    }
    for (what, seq) in [("晴", 0), ("0", 1), ("，", 0), ("1", 2), ("22°C", 0), ("2", 3)] {
        let got = heard.recv().await.unwrap();
        assert_eq!((&*said(&got), got.seq), (what, seq));
    }
    assert_eq!(read_all(&**runtime.journal()).unwrap().len(), 3);
}

#[tokio::test]
async fn an_end_must_not_be_interim() {
    let runtime = Runtime::for_tests();
    let hasty = does(|ask, context| context.reply(&ask, Delta::from("half an answer")));
    runtime.register(Place::Runtime, at("hasty"), hasty).await.unwrap();
    let mut open = ask(&runtime, TraceId::fresh(), "hasty", "?");
    let why = "the payload `test.delta` cannot be written: what is interim can end nothing";
    assert_eq!(failure(&mut open).await, (FailureKind::Unacceptable, why.to_owned()));
}

#[tokio::test]
async fn who_reads_an_end_is_the_only_one_that_holds_the_ask() {
    let runtime = Runtime::for_tests();
    let shared = Arc::new(());
    #[derive(Serialize, Deserialize)]
    struct Big {
        #[serde(skip)]
        _shared: Arc<()>,
    }
    impl Payload for Big {
        const NAME: &'static str = "test.big";
        const KIND: Kind = Kind::Query;
    }
    impl Ask for Big {
        type Reply = Done;
        type Failure = EnvelopeFailed;
    }
    let runs = does(|ask, context| {
        let address = context.address().clone();
        let end = Draft::ending(&ask, done(address.as_str()));
        context.run(&ask, |_| Body::new(done("?")), async move { end });
    });
    runtime.register(Place::Runtime, at("actor"), runs).await.unwrap();
    let big = Big { _shared: shared.clone() };
    runtime.bus().ask(TraceId::fresh(), at("actor"), big).await.unwrap();
    assert_eq!(Arc::strong_count(&shared), 1);
}

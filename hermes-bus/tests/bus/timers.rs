//! Timers: what guards an open ask, under paused time.

use std::time::Duration;

use expect_test::expect;
use hermes_bus::*;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::support::*;

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn an_ask_expires() {
    let runtime = Runtime::for_tests();
    runtime.register(Place::Runtime, at("silent"), recorder().0).await.unwrap();
    let asked = Instant::now();

    let error = runtime.bus().ask(TraceId::fresh(), at("silent"), work("?")).await.unwrap_err();

    assert!(matches!(error, AskError::Undone(FailureKind::Expired, _)), "{error}");
    assert!((asked.elapsed().as_secs_f64() - ASK_TIMEOUT.as_secs_f64()).abs() < 0.01);
}

/// Asks `tool` for each `test.tell`, arms a timer of one second that guards it, and hands out what it hears.
fn armer() -> (impl Factory, mpsc::UnboundedReceiver<String>) {
    let (to, heard) = mpsc::unbounded_channel();
    let factory = does(move |envelope, context| match envelope.get::<Tell>() {
        Ok(told) => {
            let draft = Draft::caused_by(&envelope, at("armer"), at("tool"), work(&told.what));
            let mut step = Step::new();
            step.arm(envelope.trace_id, draft.id(), "timeout", SECOND);
            step.push(draft);
            context.send(step);
        }
        Err(_) => to.send(said(&envelope)).unwrap_or_default(),
    });
    (factory, heard)
}

#[tokio::test(start_paused = true)]
async fn a_timer_fires_for_its_armer_while_the_ask_is_open() {
    let runtime = Runtime::for_tests();
    let (armer, mut heard) = armer();
    runtime.register(Place::Runtime, at("armer"), armer).await.unwrap();
    runtime.register(Place::Runtime, at("tool"), recorder().0).await.unwrap();
    let start = Instant::now();

    tell(&runtime, TraceId::fresh(), "armer", "slow");

    assert_eq!(heard.recv().await.unwrap(), "timer.fired");
    assert!(start.elapsed() >= SECOND && start.elapsed() < SECOND + SECOND / 10);
    expect![[r#"
        e1 user -> armer: test.tell slow
        e2 armer -> tool: test.do slow
        e3 clock -> armer: timer.fired timeout
    "#]]
    .assert_eq(&flow(&runtime));
}

#[tokio::test(start_paused = true)]
async fn a_timer_does_not_fire_when_the_ask_has_ended() {
    let runtime = Runtime::for_tests();
    let (armer, mut heard) = armer();
    runtime.register(Place::Runtime, at("armer"), armer).await.unwrap();
    runtime.register(Place::Runtime, at("tool"), echo()).await.unwrap();

    tell(&runtime, TraceId::fresh(), "armer", "quick");
    assert_eq!(heard.recv().await.unwrap(), "quick");
    tokio::time::sleep(10 * SECOND).await;
    settled(&runtime).await;

    assert!(heard.try_recv().is_err());
    assert!(!flow(&runtime).contains("timer.fired"));
}

#[tokio::test(start_paused = true)]
async fn thousands_of_timers_fire_in_the_order_in_which_they_are_due() {
    // Without the check of the laws, which takes longer than the timers do.
    let runtime = Runtime::builder(std::sync::Arc::new(journal::MemoryJournal::new())).start();
    runtime.register(Place::Runtime, at("silent"), recorder().0).await.unwrap();
    let start = Instant::now();
    let asks = (0..5000_u64).map(|n| {
        let after = Duration::from_millis(1 + n * 7919 % 5000);
        let draft = Draft::from_user(TraceId::fresh(), at("silent"), work("?")).expires_after(after);
        (after, runtime.bus().request(draft))
    });
    for (after, mut open) in asks.collect::<Vec<_>>() {
        open.end().await.unwrap();
        assert!(start.elapsed() >= after);
    }
    assert!(start.elapsed() < 6 * SECOND);
    let journal = read_all(&**runtime.journal()).unwrap();
    assert_eq!(journal.len(), 10_000);
}

/// Asks `child` for each ask it gets, and neither ends anything nor heeds an abort.
fn stubborn(child: &'static str) -> impl Factory {
    does(move |envelope, context| {
        if envelope.body.kind().is_ask() {
            context.ask(&envelope, at(child), work("deeper"));
        }
    })
}

#[tokio::test(start_paused = true)]
async fn an_abort_is_told_and_after_the_grace_the_bus_ends_the_whole_tree() {
    let runtime = Runtime::for_tests();
    let (aborts, mut told) = mpsc::unbounded_channel();
    let boss = does(move |envelope, context| match &*said(&envelope) {
        "go" => context.ask(&envelope, at("middle"), work("start")),
        "abort" => context.abort(envelope.trace_id, envelope.parent_id.unwrap(), SECOND),
        end => aborts.send(end.to_owned()).unwrap(),
    });
    let (leaf, mut heard) = recorder();
    runtime.register(Place::Runtime, at("boss"), boss).await.unwrap();
    runtime.register(Place::Runtime, at("middle"), stubborn("leaf")).await.unwrap();
    runtime.register(Place::Runtime, at("leaf"), leaf).await.unwrap();
    let trace = TraceId::fresh();
    tell(&runtime, trace, "boss", "go");
    let to_leaf = heard.recv().await.unwrap();
    let start = Instant::now();

    news(&runtime, trace, to_leaf.parent_id.unwrap(), "boss", "abort");

    assert_eq!(told.recv().await.unwrap(), "envelope.failed");
    assert!(start.elapsed() >= SECOND);
    expect![[r#"
        e1 user -> boss: test.tell go
        e2 boss -> middle: test.do start
        e3 middle -> leaf: test.do deeper
        e4 user -> boss: test.news abort
        e5 leaf -> middle: envelope.failed expired: what it was asked for has ended (ends e3)
        e6 middle -> boss: envelope.failed expired: it was aborted and did not end within the grace (ends e2)
    "#]]
    .assert_eq(&flow(&runtime));
}

#[tokio::test(start_paused = true)]
async fn who_heeds_an_abort_ends_the_ask_itself() {
    let runtime = Runtime::for_tests();
    let held = std::sync::Arc::new(std::sync::Mutex::new(None));
    let polite = does(move |envelope, context| match envelope.get::<AskAbort>() {
        Ok(abort) => {
            let ask: std::sync::Arc<Envelope> = held.lock().unwrap().take().unwrap();
            assert_eq!(abort.ask, ask.id);
            // What an abort causes has the aborted ask as its cause: the abort itself stands in no journal.
            let (me, anyone) = (context.address().clone(), at("anyone"));
            context.send(Draft::caused_by(&envelope, me, anyone, News::from("I stop")));
            context.reply(&ask, done("stopped"));
        }
        Err(_) => *held.lock().unwrap() = Some(envelope),
    });
    runtime.register(Place::Runtime, at("polite"), polite).await.unwrap();
    let aborter =
        does(|envelope, context| context.abort(envelope.trace_id, envelope.parent_id.unwrap(), SECOND));
    runtime.register(Place::Runtime, at("aborter"), aborter).await.unwrap();
    let trace = TraceId::fresh();
    let mut open = ask(&runtime, trace, "polite", "work");
    news(&runtime, trace, open.ask(), "aborter", "abort");

    assert_eq!(said(&open.end().await.unwrap()), "stopped");
    assert!(lines(&runtime).contains(r#""receiver":"anyone","parent_id":"e1""#));
}

/// Once a timeout without end stopped the whole runtime: the sum of now and for ever is no time.
#[tokio::test(start_paused = true)]
async fn a_timer_that_is_further_off_than_any_clock_can_say_hurts_nobody() {
    let runtime = Runtime::for_tests();
    runtime.register(Place::Runtime, at("echo"), echo()).await.unwrap();
    let patient = Draft::from_user(TraceId::fresh(), at("echo"), work("hi")).expires_after(Duration::MAX);
    let end = runtime.bus().request(patient).end().await.unwrap();
    assert_eq!(end.get::<Done>().unwrap().what, "hi");
}

//! Traces: when nothing goes on in one any more it is forgotten, and those who remember it are told.

use std::sync::Arc;

use hermes_bus::*;
use tokio::sync::mpsc;

use crate::support::*;

/// Hands out the ends it gets and the traces that are over; asks `echo` for each news.
struct Remembers(mpsc::UnboundedSender<String>);

impl Factory for Remembers {
    type Actor = Remembers;
    const REMEMBERS_TRACES: bool = true;
    fn make(&mut self, _: Birth, _: &Context) -> Result<Remembers, Fault> {
        Ok(Remembers(self.0.clone()))
    }
}

impl Actor for Remembers {
    fn handle(&mut self, envelope: Arc<Envelope>, context: &Context) -> Result<(), Fault> {
        match envelope.get::<News>() {
            Ok(news) => context.ask(&envelope, at("echo"), work(&news.what)),
            Err(_) => self.0.send(said(&envelope)).unwrap_or_default(),
        }
        Ok(())
    }
    fn trace_closed(&mut self, trace: TraceId) {
        self.0.send(format!("closed {trace}")).unwrap_or_default();
    }
}

#[tokio::test]
async fn a_trace_is_over_after_its_last_end_has_been_delivered() {
    let runtime = Runtime::for_tests();
    let (to, mut heard) = mpsc::unbounded_channel();
    runtime.register(Place::Runtime, at("remembers"), Remembers(to)).await.unwrap();
    runtime.register(Place::Runtime, at("echo"), echo()).await.unwrap();
    let trace = TraceId::fresh();
    let mut first = ask(&runtime, trace, "echo", "from outside");
    first.end().await.unwrap();
    assert_eq!(heard.recv().await.unwrap(), format!("closed {trace}"));

    // Whoever goes on in a trace that is over opens it again.
    news(&runtime, trace, first.ask(), "remembers", "hi");
    assert_eq!(heard.recv().await.unwrap(), "hi");
    assert_eq!(heard.recv().await.unwrap(), format!("closed {trace}"));
}

#[tokio::test]
async fn ten_thousand_traces_leave_nothing_behind() {
    // Without the check of the laws, which takes longer than the traces do.
    let runtime = Runtime::builder(Arc::new(journal::MemoryJournal::new())).start();
    let (to, mut heard) = mpsc::unbounded_channel();
    let agent = runtime.directory();
    runtime.register(agent.place(), at("remembers"), Remembers(to)).await.unwrap();
    runtime.register(Place::Runtime, at("echo"), echo()).await.unwrap();
    for _ in 0..10_000 {
        let trace = TraceId::fresh();
        runtime.bind(trace, &agent);
        runtime.bus().place(Place::Trace(trace), at("task"), closes()).unwrap();
        ask(&runtime, trace, "task", "?").end().await.unwrap();
        assert_eq!(heard.recv().await.unwrap(), format!("closed {trace}"));
    }
    assert!(heard.try_recv().is_err(), "each trace is over once");
}

fn closes() -> impl Factory {
    does(|ask, context| context.send(Draft::ending(&ask, done("over")).closing()))
}

#[tokio::test]
async fn a_directory_hears_of_its_own_traces_only() {
    let runtime = Runtime::for_tests();
    let (to, mut heard) = mpsc::unbounded_channel();
    let (agent, trace) = (runtime.directory(), TraceId::fresh());
    runtime.register(agent.place(), at("remembers"), Remembers(to)).await.unwrap();
    runtime.register(Place::Runtime, at("echo"), echo()).await.unwrap();
    runtime.bus().ask(TraceId::fresh(), at("echo"), work("not of this agent")).await.unwrap();
    runtime.bind(trace, &agent);
    runtime.bus().ask(trace, at("echo"), work("of this agent")).await.unwrap();
    assert_eq!(heard.recv().await.unwrap(), format!("closed {trace}"));
}

#[tokio::test]
async fn a_step_that_ends_the_last_ask_and_asks_again_goes_on_in_the_trace() {
    let runtime = Runtime::for_tests();
    let (agent, trace) = (runtime.directory(), TraceId::fresh());
    let goes_on = does(|envelope, context| {
        if envelope.get::<Do>().is_ok() {
            let mut step = Step::new();
            step.push(Draft::ending(&envelope, done("first")));
            let news = Draft::caused_by(&envelope, at("tool"), at("helper"), work("second"));
            step.push(news.below(envelope.parent_id.unwrap_or(envelope.id)));
            context.send(step);
        }
    });
    runtime.register(agent.place(), at("tool"), goes_on).await.unwrap();
    let (helper, _heard) = recorder();
    runtime.register(agent.place(), at("helper"), helper).await.unwrap();
    runtime.bind(trace, &agent);
    ask(&runtime, trace, "tool", "go").end().await.unwrap();
    settled(&runtime).await;
    assert!(!flow(&runtime).contains("no actor has the address"), "{}", flow(&runtime));
}

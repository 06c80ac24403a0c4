//! Addresses: who can have which, and where they are looked up.

use hermes_bus::*;

use crate::support::*;

/// Answers every ask with `name`.
fn named(name: &'static str) -> impl Factory {
    does(move |ask, context| context.reply(&ask, done(name)))
}

async fn answer(runtime: &Runtime, trace: TraceId, receiver: &str) -> String {
    let answer = runtime.bus().ask(trace, at(receiver), work("who are you?")).await;
    answer.map_or_else(|error| error.to_string(), |done| done.what)
}

#[tokio::test]
async fn reserved_and_taken_addresses_are_refused() {
    let runtime = Runtime::for_tests();
    for reserved in ["user", "final", "clock", "topic:news"] {
        let refused = runtime.register(Place::Runtime, at(reserved), echo()).await;
        assert_eq!(refused, Err(RegisterError::Reserved(at(reserved))));
    }
    runtime.register(Place::Runtime, at("llm"), named("first")).await.unwrap();
    let refused = runtime.register(Place::Runtime, at("llm"), named("second")).await;
    assert_eq!(refused, Err(RegisterError::Taken(at("llm"))));
    assert_eq!(answer(&runtime, TraceId::fresh(), "llm").await, "first");
}

#[tokio::test]
async fn an_address_is_looked_up_in_the_trace_then_in_the_directory_then_in_the_runtime() {
    let runtime = Runtime::for_tests();
    let (agent, trace) = (runtime.directory(), TraceId::fresh());
    // What keeps the trace from being over, and so from being forgotten, between the steps of this test.
    runtime.register(Place::Trace(trace), at("keeper"), echo()).await.unwrap();
    runtime.bind(trace, &agent);

    runtime.register(Place::Runtime, at("llm"), named("of the runtime")).await.unwrap();
    assert_eq!(answer(&runtime, trace, "llm").await, "of the runtime");
    runtime.register(agent.place(), at("llm"), named("of the agent")).await.unwrap();
    assert_eq!(answer(&runtime, trace, "llm").await, "of the agent");
    runtime.register(Place::Trace(trace), at("llm"), named("of the trace")).await.unwrap();
    assert_eq!(answer(&runtime, trace, "llm").await, "of the trace");

    assert_eq!(answer(&runtime, TraceId::fresh(), "llm").await, "of the runtime");
}

#[tokio::test]
async fn numbers_and_scopes_of_steps_are_skipped_but_for_actors_of_the_trace() {
    let runtime = Runtime::for_tests();
    let (agent, trace) = (runtime.directory(), TraceId::fresh());
    runtime.bind(trace, &agent);
    runtime.register(Place::Trace(trace), at("step#2/orchestrator"), named("the second step")).await.unwrap();
    runtime.register(agent.place(), at("researcher/llm"), named("the researcher's")).await.unwrap();
    runtime.register(Place::Runtime, at("clock-maker"), named("the runtime's")).await.unwrap();

    assert_eq!(answer(&runtime, trace, "researcher#2/llm").await, "the researcher's");
    assert_eq!(answer(&runtime, trace, "step#3/researcher#12/llm").await, "the researcher's");
    assert_eq!(answer(&runtime, trace, "step/clock-maker").await, "the runtime's");
    assert_eq!(answer(&runtime, trace, "step#2/orchestrator").await, "the second step");
    assert!(answer(&runtime, trace, "step#3/orchestrator").await.contains("no actor has the address"));
}

#[tokio::test]
async fn the_actors_of_a_directory_go_with_it_and_what_they_had_is_ended() {
    let runtime = Runtime::for_tests();
    let (agent, trace) = (runtime.directory(), TraceId::fresh());
    let (silent, mut got) = recorder();
    runtime.register(agent.place(), at("tool"), silent).await.unwrap();
    runtime.bind(trace, &agent);
    let mut open = ask(&runtime, trace, "tool", "?");
    got.recv().await.unwrap();

    drop(agent);

    assert_eq!(failure(&mut open).await.1, "its receiver is gone");
    assert!(answer(&runtime, trace, "tool").await.contains("no actor has the address"));
    assert!(got.recv().await.is_none(), "the actor is gone");
}

#[tokio::test]
async fn two_runtimes_in_one_process_do_not_see_each_other() {
    let (one, other) = (Runtime::for_tests(), Runtime::for_tests());
    let trace = TraceId::fresh();
    one.register(Place::Runtime, at("llm"), named("one")).await.unwrap();
    assert!(answer(&other, trace, "llm").await.contains("no actor has the address"));

    other.register(Place::Runtime, at("llm"), named("other")).await.unwrap();
    assert_eq!(answer(&one, trace, "llm").await, "one");
    assert_eq!(answer(&other, trace, "llm").await, "other");
    assert_eq!(read_all(&**one.journal()).unwrap().len(), 2);
}

#[tokio::test]
async fn an_actor_may_send_while_it_is_made() {
    struct Eager;
    impl Factory for Eager {
        type Actor = Box<dyn Actor>;
        fn make(&mut self, _: Birth, context: &Context) -> Result<Self::Actor, Fault> {
            let draft = Draft::from_user(TraceId::fresh(), at("listener"), Tell::from("I live"));
            context.send(draft);
            Ok(Box::new(Silent))
        }
    }
    struct Silent;
    impl Actor for Silent {
        fn handle(&mut self, _: std::sync::Arc<Envelope>, _: &Context) -> Result<(), Fault> {
            Ok(())
        }
    }
    let runtime = Runtime::for_tests();
    let (listener, mut heard) = recorder();
    runtime.register(Place::Runtime, at("listener"), listener).await.unwrap();
    runtime.register(Place::Runtime, at("eager"), Eager).await.unwrap();
    assert_eq!(said(&heard.recv().await.unwrap()), "I live");
}

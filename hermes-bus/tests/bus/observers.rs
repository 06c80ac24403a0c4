//! Observers: they see everything, and hurt nothing.

use std::sync::Arc;
use std::time::Duration;

use hermes_bus::journal::{Journal, MemoryJournal};
use hermes_bus::*;

use crate::support::*;

/// Everything that is left for `observer`, until the runtime ends.
async fn numbers(mut observer: Observer) -> Vec<u64> {
    let mut seen = Vec::new();
    while let Some(record) = observer.next().await.unwrap() {
        seen.push(record.seq);
    }
    seen
}

/// Makes two records each time: what is told, and that nobody heard it.
fn tell_often(runtime: &Runtime, times: usize) {
    for _ in 0..times {
        tell(runtime, TraceId::fresh(), "nobody", "news");
    }
}

#[tokio::test]
async fn an_observer_sees_everything_from_the_beginning_to_the_end() {
    let runtime = Runtime::for_tests();
    tell_often(&runtime, 150);
    settled(&runtime).await;
    let (early, later) = (runtime.observe_from(0), runtime.observe_from(299));
    let watching = tokio::spawn(numbers(early));
    tell_often(&runtime, 150);
    runtime.shutdown(Duration::ZERO).await;

    assert_eq!(watching.await.unwrap(), (1..=600).collect::<Vec<_>>());
    assert_eq!(numbers(later).await, (300..=600).collect::<Vec<_>>());
    assert_eq!(numbers(runtime.observe_from(598)).await, [599, 600], "also after the runtime has stopped");
}

#[tokio::test]
async fn an_observer_that_lags_catches_up_and_a_stuck_one_hurts_nothing() {
    let runtime = Runtime::for_tests();
    let (mut slow, stuck, dropped) =
        (runtime.observe_from(0), runtime.observe_from(0), runtime.observe_from(0));
    tell_often(&runtime, 1);
    assert_eq!(slow.next().await.unwrap().unwrap().seq, 1);
    drop(dropped);

    tell_often(&runtime, 2_500);
    settled(&runtime).await;
    for seq in 2..=2_000 {
        assert_eq!(slow.next().await.unwrap().unwrap().seq, seq);
    }
    tell_often(&runtime, 2_500);
    runtime.shutdown(Duration::ZERO).await;

    assert_eq!(numbers(slow).await, (2_001..=10_002).collect::<Vec<_>>());
    drop(stuck);
}

#[tokio::test]
async fn an_observer_misses_nothing_that_another_runtime_writes_to_the_same_journal() {
    let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
    let [one, other] = [(); 2].map(|()| Runtime::tests_builder(journal.clone()).start());
    let watching = tokio::spawn(numbers(one.observe_from(0)));
    for runtime in [&one, &other, &one, &other] {
        tell_often(runtime, 3);
        settled(runtime).await;
    }
    one.shutdown(Duration::ZERO).await;
    assert_eq!(watching.await.unwrap(), (1..=24).collect::<Vec<_>>());
}

#[tokio::test]
async fn an_observer_gets_the_bytes_that_stand_in_the_journal() {
    let runtime = Runtime::for_tests();
    let mut observer = runtime.observe_from(0);
    tell(&runtime, TraceId::fresh(), "nobody", "新闻 📰");
    let records = [observer.next().await.unwrap().unwrap(), observer.next().await.unwrap().unwrap()];
    assert_eq!(read_all(&**runtime.journal()).unwrap(), records);
}

#[tokio::test]
async fn interim_notes_are_seen_in_their_places_and_journaled_nowhere() {
    let runtime = Runtime::for_tests();
    let trace = TraceId::fresh();
    let interim = |what: &str| Draft::from_user(trace, Address::user(), Delta::from(what));
    tell(&runtime, trace, "nobody", "before anybody watches");
    runtime.bus().send(interim("missed"));
    settled(&runtime).await;
    assert!(!runtime.bus().is_observed());
    let mut observer = runtime.observe_from(0);
    assert!(runtime.bus().is_observed());
    runtime.bus().send(interim("一"));
    tell(&runtime, trace, "nobody", "between");
    runtime.bus().send(interim("二"));
    runtime.shutdown(Duration::ZERO).await;

    let mut seen = Vec::new();
    while let Some(sight) = observer.next_sight().await.unwrap() {
        seen.push(match sight {
            Sight::Record(record) => record.seq.to_string(),
            Sight::Interim(envelope) => envelope.get::<Delta>().unwrap().what.clone(),
        });
    }
    // Each command for nobody makes two records.
    assert_eq!(
        seen,
        ["1", "2", "3", "4", "二"],
        "what came before a record that was caught up with is out of place"
    );
}

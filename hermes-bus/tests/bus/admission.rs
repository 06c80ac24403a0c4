//! Admission: how many tasks run at once.

use std::sync::{Arc, Mutex};

use hermes_bus::journal::MemoryJournal;
use hermes_bus::*;

/// Keeps what operators are told.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<String>>>);

impl tracing::Subscriber for Heard {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() <= tracing::Level::WARN
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        let heard = &self.0;
        event.record(&mut |field: &tracing::field::Field, value: &dyn std::fmt::Debug| {
            if field.name() == "message" {
                heard.lock().unwrap().push(format!("{value:?}"));
            }
        });
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

#[tokio::test]
async fn one_task_more_than_are_admitted_waits_and_says_so() {
    let runtime = Runtime::tests_builder(Arc::new(MemoryJournal::new())).admit(2).start();
    let heard = Heard::default();
    let _listening = tracing::subscriber::set_default(heard.clone());
    let (first, _second) = (runtime.admit().await.unwrap(), runtime.admit().await.unwrap());
    assert!(heard.0.lock().unwrap().is_empty());

    let waiting = tokio::spawn({
        let runtime = runtime.clone();
        async move { runtime.admit().await.is_ok() }
    });
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    assert_eq!(*heard.0.lock().unwrap(), ["as many tasks run as are admitted at once; the next one waits"]);

    drop(first);
    assert!(waiting.await.unwrap());
}

#[tokio::test]
async fn nobody_is_admitted_to_a_runtime_that_is_shut_down() {
    let runtime = Runtime::for_tests();
    runtime.shutdown(std::time::Duration::ZERO).await;
    assert_eq!(runtime.admit().await.unwrap_err().reason, "it was shut down");
}

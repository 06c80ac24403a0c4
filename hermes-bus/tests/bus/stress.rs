//! Two seconds of real work on several threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hermes_bus::journal::Entry;
use hermes_bus::*;

use crate::support::*;

/// Passes an ask down a chain, or answers it in a body; now and then a body panics or a second end is sent.
fn worker(next: Option<&'static str>, calls: Arc<AtomicUsize>) -> impl Factory {
    let open = Arc::new(std::sync::Mutex::new(std::collections::HashMap::<Id, Arc<Envelope>>::new()));
    does(move |envelope, context| {
        let turn = calls.fetch_add(1, Ordering::Relaxed);
        if let Some(ask) = envelope.in_reply_to.and_then(|id| open.lock().unwrap().remove(&id)) {
            return context.reply(&ask, done(said(&envelope)));
        }
        if !envelope.body.kind().is_ask() {
            return;
        }
        if let Some(next) = next {
            let deeper =
                Draft::caused_by(&envelope, context.address().clone(), at(next), work(said(&envelope)));
            open.lock().unwrap().insert(deeper.id(), envelope);
            return context.send(deeper);
        }
        let held = envelope.clone();
        context.run(&envelope, |_| Body::new(done("panicked")), async move {
            tokio::task::yield_now().await;
            if turn.is_multiple_of(101) {
                // A panic without its message on the terminal.
                std::panic::resume_unwind(Box::new("now and then"));
            }
            Draft::ending(&held, done(said(&held)))
        });
        if turn.is_multiple_of(7) {
            context.reply(&envelope, done("in a hurry"));
        }
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_threads_keep_the_laws() {
    let runtime = Runtime::for_tests();
    let calls = Arc::new(AtomicUsize::new(1));
    for (name, next) in [("top", Some("middle")), ("middle", Some("leaf")), ("leaf", None)] {
        runtime.register(Place::Runtime, at(name), worker(next, calls.clone())).await.unwrap();
    }
    let until = Instant::now() + Duration::from_secs(2);
    let clients = (0..8).map(|_| {
        let runtime = runtime.clone();
        tokio::spawn(async move {
            while Instant::now() < until {
                let asks = [(); 20].map(|()| ask(&runtime, TraceId::fresh(), "top", "hi"));
                for mut ask in asks {
                    ask.end().await.unwrap();
                }
            }
        })
    });
    for client in clients.collect::<Vec<_>>() {
        client.await.unwrap();
    }
    runtime.shutdown(Duration::from_secs(5)).await;

    let records = read_all(&**runtime.journal()).unwrap();
    let (mut asks, mut ends) = (0, 0);
    for record in &records {
        let entry = Entry::parse(record).unwrap();
        asks += usize::from(entry.kind.is_ask());
        ends += usize::from(entry.in_reply_to.is_some() && !entry.late);
    }
    assert!(asks > 1000 && asks == ends, "{asks} asks, {ends} ends");
}

//! Order: nothing is delivered that is not journaled, and mailboxes follow the journal.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use bytes::Bytes;
use hermes_bus::journal::*;
use hermes_bus::*;
use tokio::sync::mpsc;

use crate::support::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_envelopes_of_several_senders_arrive_in_the_order_of_the_journal() {
    let runtime = Runtime::for_tests();
    let (to, mut got) = mpsc::unbounded_channel();
    for name in ["a", "b"] {
        let to = to.clone();
        let counts = does(move |envelope: Arc<Envelope>, _: &Context| _ = to.send((name, envelope.seq)));
        runtime.register(Place::Runtime, at(name), counts).await.unwrap();
    }
    let senders = (0..10).map(|_| {
        let runtime = runtime.clone();
        tokio::spawn(async move {
            for n in 0..100 {
                tell(&runtime, TraceId::fresh(), if n % 2 == 0 { "a" } else { "b" }, "hi");
            }
        })
    });
    for sender in senders.collect::<Vec<_>>() {
        sender.await.unwrap();
    }
    let mut last = [("a", 0), ("b", 0)];
    for _ in 0..1000 {
        let (name, seq) = got.recv().await.unwrap();
        let before = last.iter_mut().find(|(known, _)| *known == name).unwrap();
        assert!(before.1 < seq, "{name} got {seq} after {}", before.1);
        before.1 = seq;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_sends_of_one_step_stand_together() {
    let (runtime, trace) = (Runtime::for_tests(), TraceId::fresh());
    let cause = ask(&runtime, trace, "nobody", "the cause of all that follows").ask();
    let senders = (0..20).map(|sender| {
        let runtime = runtime.clone();
        tokio::spawn(async move {
            for _ in 0..20 {
                let mut step = Step::new();
                for part in 0..5 {
                    let what = News { what: format!("{sender}.{part}") };
                    step.push(Draft::from_user(trace, at("nobody"), what).with_parent(cause));
                }
                runtime.bus().commit(step).await.unwrap();
            }
        })
    });
    for sender in senders.collect::<Vec<_>>() {
        sender.await.unwrap();
    }
    let flow = flow(&runtime);
    let words: Vec<&str> = flow.lines().skip(2).filter_map(|line| line.split(' ').next_back()).collect();
    assert_eq!(words.len(), 20 * 20 * 5);
    for step in words.chunks(5) {
        let sender = step[0].strip_suffix(".0").unwrap();
        assert!((0..5).all(|part| step[part] == format!("{sender}.{part}")), "{step:?}");
    }
}

/// A journal whose disk is full after a number of appends.
struct Full {
    kept: MemoryJournal,
    left: AtomicUsize,
}

impl Journal for Full {
    fn append(&self, batch: &mut Batch) -> Result<(), JournalError> {
        if self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1)).is_err() {
            let source = std::io::ErrorKind::StorageFull.into();
            return Err(JournalError::Io { action: "write", location: self.location(), source });
        }
        self.kept.append(batch)
    }
    fn read(&self, after: u64, limit: usize) -> Result<Vec<Record>, JournalError> {
        self.kept.read(after, limit)
    }
    fn last(&self) -> Result<u64, JournalError> {
        self.kept.last()
    }
    fn put_blob(&self, bytes: &[u8]) -> Result<BlobHash, JournalError> {
        self.kept.put_blob(bytes)
    }
    fn blob(&self, hash: &BlobHash) -> Result<Bytes, JournalError> {
        self.kept.blob(hash)
    }
    fn flush(&self) -> Result<(), JournalError> {
        self.kept.flush()
    }
    fn location(&self) -> String {
        "on a full disk".to_owned()
    }
}

fn runtime_with_room_for(appends: usize) -> Runtime {
    Runtime::tests_builder(Arc::new(Full { kept: MemoryJournal::new(), left: AtomicUsize::new(appends) }))
        .start()
}

#[tokio::test]
async fn when_the_journal_fails_nothing_of_the_batch_is_delivered_and_every_wait_ends_with_the_reason() {
    let runtime = runtime_with_room_for(1);
    let (silent, mut got) = recorder();
    runtime.register(Place::Runtime, at("silent"), silent).await.unwrap();
    let mut journaled = ask(&runtime, TraceId::fresh(), "silent", "there is room for this");
    let first = got.recv().await.unwrap();

    let mut lost = ask(&runtime, TraceId::fresh(), "silent", "but not for this");
    let reason = lost.journaled().await.unwrap_err().reason;

    assert_eq!(reason, "cannot write the journal on a full disk: no storage space");
    assert_eq!(runtime.bus().stop_reason(), Some(&*reason));
    assert_eq!(lost.end().await.unwrap_err().reason, reason);
    assert_eq!(journaled.end().await.unwrap_err().reason, reason);
    assert!(got.recv().await.is_none(), "the mailbox is closed without the second ask");

    let bus = runtime.bus();
    assert_eq!(bus.commit(Step::new()).await.unwrap_err().reason, reason);
    assert!(!bus.begin(&first, Draft::from_user(first.trace_id, at("silent"), News::from("begin"))).await);
    assert!(runtime.register(Place::Runtime, at("new"), echo()).await.is_err());
    assert_eq!(flow(&runtime), "e1 user -> silent: test.do there is room for this\n");
}

#[tokio::test]
async fn a_body_is_dropped_when_the_journal_fails() {
    let runtime = runtime_with_room_for(1);
    let (guard, mut dropped) = mpsc::channel::<()>(1);
    let runs = does(move |ask, context| {
        let guard = guard.clone();
        context.run(&ask, |_| Body::new(done("panicked")), async move {
            let _guard = guard;
            std::future::pending::<Draft>().await
        });
    });
    runtime.register(Place::Runtime, at("tool"), runs).await.unwrap();
    let mut open = ask(&runtime, TraceId::fresh(), "tool", "run");
    open.journaled().await.unwrap();
    tell(&runtime, TraceId::fresh(), "tool", "no room for this");

    assert!(dropped.recv().await.is_none());
    assert!(open.end().await.is_err());
}

/// Numbers what it is given and keeps none of it.
#[derive(Default)]
struct OnlyNumbers(AtomicU64);

impl Journal for OnlyNumbers {
    fn append(&self, batch: &mut Batch) -> Result<(), JournalError> {
        assert!(batch.lines().iter().all(|line| line.tail.is_empty()), "no JSON is made for it");
        batch.number(self.0.fetch_add(batch.len() as u64, Ordering::Relaxed) + 1);
        Ok(())
    }
    fn keeps_lines(&self) -> bool {
        false
    }
    fn read(&self, _: u64, _: usize) -> Result<Vec<Record>, JournalError> {
        Ok(Vec::new())
    }
    fn last(&self) -> Result<u64, JournalError> {
        Ok(self.0.load(Ordering::Relaxed))
    }
    fn put_blob(&self, bytes: &[u8]) -> Result<BlobHash, JournalError> {
        Ok(BlobHash::of(bytes))
    }
    fn blob(&self, hash: &BlobHash) -> Result<Bytes, JournalError> {
        Err(JournalError::NoBlob { location: self.location(), hash: *hash })
    }
    fn flush(&self) -> Result<(), JournalError> {
        Ok(())
    }
    fn location(&self) -> String {
        "nowhere".to_owned()
    }
}

#[tokio::test]
async fn without_lines_envelopes_have_their_numbers_all_the_same() {
    let runtime = Runtime::builder(Arc::new(OnlyNumbers::default())).start();
    let (silent, mut got) = recorder();
    runtime.register(Place::Runtime, at("echo"), echo()).await.unwrap();
    runtime.register(Place::Runtime, at("silent"), silent).await.unwrap();
    let mut asked = ask(&runtime, TraceId::fresh(), "echo", "anyone there?");
    let answer = asked.end().await.unwrap();
    tell(&runtime, TraceId::fresh(), "silent", "good night");

    assert_eq!((answer.seq, said(&answer)), (2, "anyone there?".to_owned()));
    assert_eq!(got.recv().await.unwrap().seq, 3);
    assert_eq!(runtime.journal().last().unwrap(), 3);
}

//! Random scripts over a few actors, with the laws as oracle.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use hermes_bus::journal::{Entry, MemoryJournal};
use hermes_bus::*;
use proptest::prelude::*;

use crate::support::*;

const ACTORS: [&str; 3] = ["a", "b", "c"];

/// What an actor does with an ask, and when, written into the ask itself: each letter is one act.
fn behave(asked: &Arc<Envelope>, context: &Context) -> Result<(), Fault> {
    let me = context.address().clone();
    for act in said(asked).chars() {
        match act {
            'r' => context.reply(asked, done("replied")),
            '0'..='2' => {
                let receiver = at(ACTORS[act as usize - '0' as usize]);
                let deeper = Draft::caused_by(asked, me.clone(), receiver, work("rb"));
                let mut step = Step::new();
                step.arm(asked.trace_id, deeper.id(), "timeout", Duration::from_millis(3));
                step.push(deeper.expires_after(Duration::from_millis(8)));
                context.send(step);
            }
            'b' => {
                let (held, bus) = (asked.clone(), context.bus().clone());
                context.run(asked, |_| Body::new(done("panicked")), async move {
                    tokio::time::sleep(Duration::from_millis(2)).await;
                    let note = Draft::caused_by(
                        &held,
                        held.receiver.clone(),
                        held.receiver.clone(),
                        News::from("begun"),
                    );
                    let begun = bus.begin(&held, note).await;
                    Draft::ending(&held, done(if begun { "ran" } else { "late" }))
                });
            }
            // A panic without its message on the terminal.
            'p' => std::panic::resume_unwind(Box::new("as the script says")),
            'e' => return Err("as the script says".into()),
            'c' => context.send(Draft::ending(asked, done("closed")).closing()),
            'x' => context.abort(asked.trace_id, asked.id, Duration::from_millis(4)),
            _ => {}
        }
    }
    Ok(())
}

/// One thing that happens from outside.
#[derive(Debug, Clone)]
enum Act {
    Ask { trace: usize, actor: usize, script: String },
    EndSome { ask: usize },
    Wait { ms: u64 },
    Hold,
    LetGo { reject: bool },
    DropGate,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let ask = (0..3_usize, 0..3_usize, "[rrr012bpecx.]{0,4}");
    let act = prop_oneof![
        8 => ask.prop_map(|(trace, actor, script)| Act::Ask { trace, actor, script }),
        2 => any::<usize>().prop_map(|ask| Act::EndSome { ask }),
        3 => (0..5_u64).prop_map(|ms| Act::Wait { ms }),
        1 => Just(Act::Hold),
        2 => any::<bool>().prop_map(|reject| Act::LetGo { reject }),
        1 => Just(Act::DropGate),
    ];
    prop::collection::vec(act, 1..40)
}

/// What each actor got, by its number.
type Inboxes = Arc<Mutex<Vec<(&'static str, u64)>>>;

async fn play(acts: Vec<Act>, inboxes: Inboxes) -> Runtime {
    let forbids = |draft: &Draft| match draft.body().get::<Do>() {
        Ok(asked) if asked.what.starts_with("..") => Verdict::Reject("as the script says".to_owned()),
        Ok(asked) if asked.what.starts_with('.') => Verdict::Replace(Body::new(work("r"))),
        _ => Verdict::Pass,
    };
    let runtime = Runtime::tests_builder(Arc::new(MemoryJournal::new())).rule("script", forbids).start();
    for name in ACTORS {
        let inboxes = inboxes.clone();
        let actor = may_fail(move |envelope: Arc<Envelope>, context: &Context| {
            if envelope.seq > 0 {
                inboxes.lock().unwrap().push((name, envelope.seq));
            }
            if envelope.body.is::<Do>() { behave(&envelope, context) } else { Ok(()) }
        });
        runtime.register(Place::Runtime, at(name), actor).await.unwrap();
    }
    let traces = [(); 3].map(|()| TraceId::fresh());
    let (mut open, mut gate, mut held) = (Vec::new(), None, Vec::new());
    for act in acts {
        match act {
            Act::Ask { trace, actor, script } => {
                let draft = Draft::from_user(traces[trace], at(ACTORS[actor]), work(script));
                open.push((
                    traces[trace],
                    runtime.bus().request(draft.expires_after(Duration::from_millis(50))),
                ));
            }
            Act::EndSome { ask } if !open.is_empty() => {
                let (trace, pending) = &open[ask % open.len()];
                let end = Draft::from_user(*trace, at("a"), done("ended from outside"));
                runtime.bus().send(end.with_parent(pending.ask()).in_reply_to(pending.ask()));
            }
            Act::Wait { ms } => tokio::time::sleep(Duration::from_millis(ms)).await,
            Act::Hold => gate = Some(runtime.gate(|envelope| envelope.seq % 3 == 0)),
            Act::LetGo { reject } => {
                if let Some(gate) = &mut gate
                    && let Ok(Some(next)) = tokio::time::timeout(Duration::ZERO, gate.next()).await
                {
                    if reject { next.reject("as the script says") } else { held.push(next) }
                }
            }
            Act::DropGate => gate = None,
            Act::EndSome { .. } => {}
        }
    }
    drop((gate, held));
    for (_, pending) in &mut open {
        pending.end().await.unwrap();
    }
    runtime.shutdown(Duration::from_secs(60)).await;
    runtime
}

/// Every ask has exactly one end that is not late; each mailbox followed the journal.
fn check(runtime: &Runtime, inboxes: &[(&str, u64)]) {
    let records = read_all(&**runtime.journal()).unwrap();
    let entries: Vec<Entry<'_>> = records.iter().map(|record| Entry::parse(record).unwrap()).collect();
    for ask in entries.iter().filter(|entry| entry.kind.is_ask()) {
        let ends = entries.iter().filter(|entry| entry.in_reply_to == Some(ask.id) && !entry.late).count();
        assert_eq!(ends, 1, "ends of seq {}:\n{}", ask.seq, flow(runtime));
    }
    for name in ACTORS {
        let got: Vec<u64> = inboxes.iter().filter(|(who, _)| *who == name).map(|(_, seq)| *seq).collect();
        assert!(got.is_sorted_by(|a, b| a < b), "{name} got {got:?}");
    }
    let broken = runtime.bus().test_log().unwrap().broken(&**runtime.journal());
    assert!(broken.is_empty(), "{broken:?}\n{}", flow(runtime));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn whatever_happens_the_laws_hold_and_every_ask_has_one_end(acts in acts()) {
        let inboxes = Inboxes::default();
        let paused = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let runtime = paused.block_on(play(acts, inboxes.clone()));
        check(&runtime, &inboxes.lock().unwrap());
    }
}

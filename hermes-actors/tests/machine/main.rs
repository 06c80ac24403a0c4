//! The task machine alone, under a simulated bus that ends what it asks for in every order and in every way.
//!
//! The bus in here does what the real one promises: an ask gets one end, the first; a second is late and goes
//! nowhere; a mailbox keeps its order. All else is chance: which ask ends next, how, what crosses it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

mod chance;
mod world;

use std::sync::Arc;

use hermes_actors::{Definition, Effects, Task};
use hermes_bus::{Body, Draft, Envelope, Id, RawPayload};
use proptest::prelude::*;

use world::{World, me};

/// The envelope as it comes out of a journal.
fn through_json(envelope: &Envelope) -> Envelope {
    let mut json = Vec::new();
    envelope.body.write_journal(&mut json).unwrap();
    let json = serde_json::from_slice(&json).unwrap();
    let body =
        Body::new(RawPayload { name: Arc::from(envelope.body.name()), kind: envelope.body.kind(), json });
    let mut read = envelope.clone();
    read.body = body;
    read
}

/// What effects say, as far as a journal can show it.
fn said(effects: &Effects) -> Vec<(Id, String)> {
    let json = |draft: &Draft| {
        let mut json = Vec::new();
        draft.body().write_journal(&mut json).unwrap();
        String::from_utf8(json).unwrap()
    };
    effects.sends.iter().map(|draft| (draft.id(), json(draft))).collect()
}

fn folded_again(world: &World, definition: &Arc<Definition>, form: impl Fn(&Envelope) -> Envelope) {
    let mut again = Task::new(me(), definition.clone());
    for (envelope, effects, fingerprint) in &world.delivered {
        let same = again.on(&form(envelope));
        assert_eq!(again.fingerprint(), *fingerprint, "after {} {}", envelope.seq, envelope.body.name());
        assert_eq!(said(&same), said(effects));
        assert_eq!((same.timers, same.aborts), (effects.timers.clone(), effects.aborts.clone()));
    }
    assert!(again.is_finished());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_crosses_a_task_it_ends_once_and_can_be_folded_again(chance in proptest::collection::vec(any::<u8>(), 0..160)) {
        let (mut world, definition) = World::new(chance);
        world.run();
        folded_again(&world, &definition, Envelope::clone);
        folded_again(&world, &definition, through_json);
    }
}

//! Pruning: the smallest part of a scenario that still fails.

use super::scenario::{Reply, Says, Scenario, Team, Watcher};

/// How many smaller scenarios are tried at most.
const TRIES: usize = 600;

/// Leaves out whatever can be left out while `fails` still says so.
pub fn pruned(mut scenario: Scenario, mut fails: impl FnMut(&Scenario) -> bool) -> Scenario {
    let mut tries = 0;
    'smaller: loop {
        for smaller in smaller(&scenario) {
            tries += 1;
            if tries > TRIES {
                return scenario;
            }
            if fails(&smaller) {
                scenario = smaller;
                continue 'smaller;
            }
        }
        return scenario;
    }
}

/// All scenarios that lack one thing.
fn smaller(scenario: &Scenario) -> Vec<Scenario> {
    let mut all = Vec::new();
    let of = |change: &dyn Fn(&mut Scenario)| {
        let mut smaller = scenario.clone();
        change(&mut smaller);
        smaller
    };
    all.extend(without(&scenario.faults).map(|faults| of(&|s| s.faults = faults.clone())));
    all.extend(without(&scenario.tasks).map(|tasks| of(&|s| s.tasks = tasks.clone())));
    all.extend(without::<Watcher>(&scenario.watchers).map(|watchers| of(&|s| s.watchers = watchers.clone())));
    if scenario.successors > 0 {
        all.push(of(&|s| s.successors = 0));
    }
    all.extend(smaller_teams(&scenario.team).into_iter().map(|team| of(&|s| s.team = team.clone())));
    all
}

fn smaller_teams(team: &Team) -> Vec<Team> {
    let mut all: Vec<Team> = without(&team.replies).map(|replies| Team { replies, ..team.clone() }).collect();
    all.extend(without(&team.below).map(|below| Team { below, ..team.clone() }));
    for (at, below) in team.below.iter().enumerate() {
        for smaller in smaller_teams(below) {
            let mut team = team.clone();
            team.below[at] = smaller;
            all.push(team);
        }
    }
    for (at, reply) in team.replies.iter().enumerate() {
        for says in with_fewer_calls(&reply.says) {
            let mut team = team.clone();
            team.replies[at] = Reply { says, ..reply.clone() };
            all.push(team);
        }
    }
    all
}

fn with_fewer_calls(says: &Says) -> Vec<Says> {
    match says {
        Says::Calls(calls) if calls.len() > 1 => without(calls).map(Says::Calls).collect(),
        Says::CutOff(calls) if calls.len() > 1 => without(calls).map(Says::CutOff).collect(),
        _ => Vec::new(),
    }
}

/// The list without each of its items in turn.
fn without<T: Clone>(items: &[T]) -> impl Iterator<Item = Vec<T>> + '_ {
    (0..items.len()).map(|at| {
        let mut items = items.to_vec();
        items.remove(at);
        items
    })
}

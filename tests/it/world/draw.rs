//! Drawing: the scenario of a seed.

use super::scenario::*;

/// Few different times, so that much happens at the same moment.
const TIMES: [u64; 9] = [0, 1, 5, 10, 20, 20, 50, 50, 300];

/// What tools do, and how often.
const DEEDS: [(&str, u32); 8] = [
    ("return", 40),
    ("fail", 12),
    ("panic", 12),
    ("hang", 8),
    ("huge", 3),
    ("deep", 5),
    ("nothing", 5),
    ("block", 1),
];

const FAILURES: [&str; 9] = [
    "unreachable",
    "timeout",
    "unauthorized",
    "rate_limited",
    "context_exceeded",
    "bad_request",
    "server",
    "bad_reply",
    "script",
];

/// What rules meddle with.
const NAMES: [&str; 10] = [
    "task.start",
    "task.cancel",
    "task.finished",
    "llm.chat",
    "llm.replied",
    "llm.failed",
    "tool.call",
    "tool.returned",
    "tool.failed",
    "tool.started",
];

/// The scenario of this seed, always the same.
pub fn scenario(seed: u64) -> Scenario {
    Draw(fastrand::Rng::with_seed(seed)).scenario(seed)
}

struct Draw(fastrand::Rng);

impl Draw {
    fn scenario(&mut self, seed: u64) -> Scenario {
        let runtimes = if self.percent(8) { 2 } else { 1 };
        Scenario {
            seed,
            storage: if self.percent(5) { Storage::File } else { Storage::Memory },
            runtimes,
            admitted: self.0.usize(1..=4),
            team: self.team(0),
            tasks: self.some(1..=4, |draw| draw.task(runtimes)),
            faults: self.some(0..=3, Self::fault),
            watchers: self.some(0..=2, Self::watcher),
            successors: if self.percent(15) { 1 } else { 0 },
        }
    }

    fn team(&mut self, depth: usize) -> Team {
        let name = ["planner", "researcher", "helper", "scout", "intern"][depth];
        let goes_deeper = depth < 4 && self.percent([45, 45, 40, 15, 0][depth]);
        let below = if goes_deeper { vec![self.team(depth + 1)] } else { Vec::new() };
        let callee = below.first().map(|team| team.name);
        Team {
            name,
            tools_at_once: self.0.u32(1..=4),
            max_iterations: self.0.u32(1..=4),
            stops_at_limit: self.percent(30),
            deadline: self.maybe(40, |draw| draw.of(&[20, 100, 400, 2_000])),
            timeout: self.maybe(30, |draw| draw.of(&[20, 50, 300])),
            patience: [(); 3].map(|()| self.of(&[20, 50, 1_000])),
            replies: self.some(0..=4, |draw| draw.reply(callee)),
            below,
        }
    }

    fn reply(&mut self, callee: Option<&'static str>) -> Reply {
        let says = match self.0.u32(0..100) {
            0..62 => Says::Calls(self.some(1..=5, |draw| draw.call(callee))),
            62..66 => Says::CutOff(self.some(1..=2, |draw| draw.call(callee))),
            66..76 => Says::Answer,
            76..78 => Says::Truncated,
            78..82 => Says::Nothing,
            82..84 => Says::Filtered,
            84..86 => Says::Strange,
            86..93 => Says::Fails(self.of(&FAILURES)),
            93..96 => Says::Panics,
            _ => Says::Hangs,
        };
        Reply { after: self.time(), says }
    }

    fn call(&mut self, callee: Option<&'static str>) -> Call {
        match (self.0.u32(0..100), callee) {
            (0..4, _) => Call::Unknown,
            (4..8, _) => Call::Unparsable,
            (8..11, _) => Call::Unfit,
            (11..14, _) => Call::Destructive,
            (14..50, Some(name)) => Call::Agent(name),
            _ => Call::Tool(self.of(&["look", "set", "send"]), self.act()),
        }
    }

    fn act(&mut self) -> Act {
        let total = DEEDS.iter().map(|(_, weight)| weight).sum();
        let mut at = self.0.u32(0..total);
        let drawn =
            DEEDS.iter().find(|(_, weight)| at.checked_sub(*weight).inspect(|left| at = *left).is_none());
        Act { after: self.time(), does: drawn.map_or("return", |(does, _)| does) }
    }

    fn task(&mut self, runtimes: usize) -> Task {
        let client = match self.0.u32(0..100) {
            0..45 => Client::Waits,
            45..55 => Client::Reads,
            55..75 => Client::Cancels(self.time()),
            75..80 => Client::CancelsTwice(self.time()),
            80..88 => Client::Drops(self.time()),
            88..95 => Client::Detaches(self.time()),
            _ => Client::LeavesAtOnce,
        };
        Task { starts: self.time(), runtime: self.0.usize(0..runtimes), client }
    }

    fn fault(&mut self) -> Fault {
        match self.0.u32(0..100) {
            0..16 => Fault::Hold {
                every: self.0.u64(1..=7),
                time: self.time(),
                then: self.of(&[Then::Release, Then::Release, Then::Reject, Then::DropGate]),
            },
            16..50 => self.meddling(),
            50..60 => Fault::EndAgain { every: self.0.u64(1..=4) },
            60..68 => Fault::EndFirst { every: self.0.u64(2..=6), after: self.time() },
            68..74 => Fault::Stray { at: self.time() },
            74..82 => Fault::DiskFull { at: self.0.u64(1..=40) },
            82..84 => Fault::NoBlob { at: self.0.u64(1..=8) },
            84..88 => {
                Fault::WriterLost { at: self.0.u64(1..=40), lines: self.of(&[Lines::Kept, Lines::Lost]) }
            }
            88..94 => Fault::PowerCut { record: self.0.u64(1..=60) },
            _ => Fault::Shutdown { at: self.time(), grace: self.time() },
        }
    }

    fn meddling(&mut self) -> Fault {
        let how = match self.0.u32(0..100) {
            0..25 => Meddling::Reject,
            25..45 => Meddling::Replace,
            45..75 => Meddling::KillReader,
            75..95 => Meddling::KillWriter,
            _ => Meddling::RulePanics,
        };
        Fault::Meddle {
            name: self.of(&NAMES),
            first: self.0.u64(0..6),
            times: self.of(&[1, 2, 3, 5, 99]),
            how,
        }
    }

    fn watcher(&mut self) -> Watcher {
        match self.0.u32(0..5) {
            0 => Watcher::KeepsUp,
            1 => Watcher::Slow(self.time()),
            2 => Watcher::Sleeps,
            3 => Watcher::Leaves(self.0.u64(0..20)),
            _ => Watcher::CatchesUp(self.time()),
        }
    }

    fn time(&mut self) -> u64 {
        self.of(&TIMES)
    }

    fn percent(&mut self, percent: u32) -> bool {
        self.0.u32(0..100) < percent
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.0.usize(0..all.len())]
    }

    fn maybe<T>(&mut self, percent: u32, draw: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.percent(percent) { Some(draw(self)) } else { None }
    }

    fn some<T>(
        &mut self,
        how_many: std::ops::RangeInclusive<usize>,
        mut draw: impl FnMut(&mut Self) -> T,
    ) -> Vec<T> {
        (0..self.0.usize(how_many)).map(|_| draw(self)).collect()
    }
}

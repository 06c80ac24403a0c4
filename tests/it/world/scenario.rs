//! A scenario: everything that one run of the world will meet, drawn before it begins, so that it can be printed and
//! pruned. Times are milliseconds of paused time.

/// One run.
#[derive(Debug, Clone)]
pub struct Scenario {
    pub seed: u64,
    pub storage: Storage,
    /// How many runtimes write to the one journal.
    pub runtimes: usize,
    /// How many tasks each of them admits at once.
    pub admitted: usize,
    pub team: Team,
    pub tasks: Vec<Task>,
    pub faults: Vec<Fault>,
    pub watchers: Vec<Watcher>,
    /// How many tasks another runtime runs on the same journal afterwards.
    pub successors: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Storage {
    Memory,
    File,
}

/// An agent and those that it may call.
#[derive(Debug, Clone)]
pub struct Team {
    pub name: &'static str,
    pub tools_at_once: u32,
    pub max_iterations: u32,
    pub stops_at_limit: bool,
    pub deadline: Option<u64>,
    /// How long one call of it may take.
    pub timeout: Option<u64>,
    /// The timeouts of `look`, `set` and `send`.
    pub patience: [u64; 3],
    /// What its model says, one reply a chat, whoever asks; after the last one it answers.
    pub replies: Vec<Reply>,
    pub below: Vec<Team>,
}

#[derive(Debug, Clone)]
pub struct Reply {
    pub after: u64,
    pub says: Says,
}

#[derive(Debug, Clone)]
pub enum Says {
    Calls(Vec<Call>),
    /// The same, cut off by the output limit.
    CutOff(Vec<Call>),
    Answer,
    Truncated,
    Nothing,
    Filtered,
    Strange,
    /// A chat error of this kind.
    Fails(&'static str),
    Panics,
    Hangs,
}

#[derive(Debug, Clone)]
pub enum Call {
    Tool(&'static str, Act),
    Agent(&'static str),
    Unknown,
    Unparsable,
    /// An object that the tool cannot use.
    Unfit,
    Destructive,
}

/// What a tool does.
#[derive(Debug, Clone)]
pub struct Act {
    pub after: u64,
    pub does: &'static str,
}

/// One task from outside.
#[derive(Debug, Clone)]
pub struct Task {
    pub starts: u64,
    pub runtime: usize,
    pub client: Client,
}

/// What becomes of a task's handle.
#[derive(Debug, Clone)]
pub enum Client {
    Waits,
    /// Reads the envelopes of the trace first.
    Reads,
    Cancels(u64),
    CancelsTwice(u64),
    Drops(u64),
    Detaches(u64),
    /// Drops the start itself, after one poll.
    LeavesAtOnce,
}

#[derive(Debug, Clone)]
pub enum Fault {
    /// A gate holds every `every`th record for a time.
    Hold {
        every: u64,
        time: u64,
        then: Then,
    },
    /// A rule does something to some of the envelopes with this name.
    Meddle {
        name: &'static str,
        first: u64,
        times: u64,
        how: Meddling,
    },
    /// Every `every`th end is sent once more under an id of its own.
    EndAgain {
        every: u64,
    },
    /// Every `every`th ask is ended by somebody else.
    EndFirst {
        every: u64,
        after: u64,
    },
    /// Somebody asks a task what it does not know.
    Stray {
        at: u64,
    },
    /// The `at`th append fails, and all after it.
    DiskFull {
        at: u64,
    },
    /// The `at`th blob cannot be kept.
    NoBlob {
        at: u64,
    },
    /// The writer is lost at the `at`th append.
    WriterLost {
        at: u64,
        lines: Lines,
    },
    /// The process is gone, soon after this record.
    PowerCut {
        record: u64,
    },
    Shutdown {
        at: u64,
        grace: u64,
    },
}

#[derive(Debug, Clone, Copy)]
pub enum Then {
    Release,
    Reject,
    /// The gate is dropped with all that it holds.
    DropGate,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Meddling {
    Reject,
    Replace,
    /// Whoever reads it dies.
    KillReader,
    /// Whoever writes it dies.
    KillWriter,
    RulePanics,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Lines {
    Kept,
    Lost,
}

/// An observer of the journal.
#[derive(Debug, Clone)]
pub enum Watcher {
    KeepsUp,
    Slow(u64),
    /// Reads nothing until the runtime has stopped.
    Sleeps,
    /// Is dropped after so many records.
    Leaves(u64),
    /// Comes later and reads from the beginning.
    CatchesUp(u64),
}

impl Scenario {
    /// Whether something stops a runtime before all tasks have ended.
    pub fn is_broken_off(&self) -> bool {
        self.faults.iter().any(|fault| {
            matches!(
                fault,
                Fault::DiskFull { .. }
                    | Fault::NoBlob { .. }
                    | Fault::WriterLost { .. }
                    | Fault::PowerCut { .. }
                    | Fault::Shutdown { .. }
            )
        })
    }

    /// Whether real threads take part, whose order nobody can repeat.
    pub fn uses_threads(&self) -> bool {
        self.team.blocks()
    }
}

impl Team {
    fn blocks(&self) -> bool {
        let calls = self.replies.iter().flat_map(|reply| reply.says.calls());
        let blocking =
            calls.into_iter().any(|call| matches!(call, Call::Tool(_, act) if act.does == "block"));
        blocking || self.below.iter().any(Self::blocks)
    }
}

impl Says {
    fn calls(&self) -> &[Call] {
        match self {
            Self::Calls(calls) | Self::CutOff(calls) => calls,
            _ => &[],
        }
    }
}

//! The states that an agent's tools need: whether all are set, before a task starts.

use super::{Agent, Backing};
use crate::tool::{MissingState, States};

impl Agent {
    /// The first state that a tool of this agent, or of its sub-agents, needs and that neither `run`, the states of one
    /// task, nor the agents have.
    pub(crate) fn missing_state(&self, run: &States) -> Option<MissingState> {
        self.missing_below(run, &States::default())
    }

    fn missing_below(&self, run: &States, inherited: &States) -> Option<MissingState> {
        let agent = self.0.states.over(inherited);
        let all = run.over(&agent);
        self.definition().tools.iter().zip(&self.0.tools).find_map(|(tool, backing)| match backing {
            Backing::Function(function) => {
                let missing = function.needs().into_iter().find(|need| !all.meets(need))?;
                Some(MissingState::new(&tool.declaration.name, &missing))
            }
            Backing::Agent(sub) => sub.agent.missing_below(run, &agent),
        })
    }
}

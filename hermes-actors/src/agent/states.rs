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

#[cfg(test)]
mod tests {
    use hermes_llm::{ScriptedModel, Step};
    use serde_json::json;

    use crate::tool::State;
    use crate::{Agent, Runtime, TaskRequest, tool};

    /// Says where.
    #[tool(read_only)]
    async fn whereabouts(region: State<&'static str>) -> &'static str {
        *region
    }

    fn asks(told: &str) -> ScriptedModel {
        ScriptedModel::new([Step::call("whereabouts", json!({})), Step::text(told).expect_tool_result(told)])
    }

    async fn runs(agent: &Agent, region: &'static str) {
        let outcome = agent.run(TaskRequest::new("go").state(region)).await.unwrap();
        assert_eq!(outcome.into_answer().as_deref(), Ok(region));
    }

    #[tokio::test]
    async fn the_state_of_a_task_goes_before_the_agents_and_is_gone_with_the_task() {
        let agent = |model| {
            let builder = Agent::builder("assistant").model(model).runtime(&Runtime::for_tests());
            builder.tool(whereabouts).state("eu-west").build().unwrap()
        };
        runs(&agent(asks("eu-north")), "eu-north").await;
        let agent = agent(asks("eu-west"));
        assert_eq!(agent.run("go").await.unwrap().into_answer().as_deref(), Ok("eu-west"));
    }

    #[tokio::test]
    async fn tools_of_sub_agents_see_the_state_of_the_task_then_their_agents_then_the_callers() {
        for (own, callers, run, seen) in [
            (None, Some("caller"), None, "caller"),
            (Some("own"), Some("caller"), None, "own"),
            (Some("own"), Some("caller"), Some("run"), "run"),
            (None, None, Some("run"), "run"),
        ] {
            let runtime = Runtime::for_tests();
            let mut helper = Agent::builder("helper").model(asks(seen)).tool(whereabouts);
            let model =
                ScriptedModel::new([Step::call("helper", json!({"task": "where?"})), Step::text("ok")]);
            let mut boss = Agent::builder("boss").model(model.clone()).runtime(&runtime);
            if let Some(region) = own {
                helper = helper.state(region);
            }
            if let Some(region) = callers {
                boss = boss.state(region);
            }
            let boss = boss.tool(helper.build().unwrap().as_tool("helps")).build().unwrap();
            let mut request = TaskRequest::new("go");
            if let Some(region) = run {
                request = request.state(region);
            }
            let outcome = boss.run(request).await.unwrap();
            assert_eq!(outcome.stats.by_sub_agents.tool_calls, 1, "{seen}: {outcome:?}");
            assert_eq!(outcome.gathered[0].shown, format!("OK: {seen}"));
            model.assert_finished();
        }
    }
}

//! What is unlawful is said when the agent is built, with what to do about it.

use expect_test::{Expect, expect};
use hermes_actors::tool::{Declaration, Tool, ToolContext, ToolError, ToolOutput};
use hermes_actors::{Agent, AgentBuilder, Runtime};
use hermes_llm::ScriptedModel;
use serde_json::{Map, Value, json};

use super::{scripted, weather};

fn refused(agent: AgentBuilder, text: Expect) {
    let error = agent.build().map(|agent| agent.name().to_owned()).unwrap_err();
    text.assert_eq(&error.to_string());
}

fn named(name: &str) -> AgentBuilder {
    Agent::builder(name).model(ScriptedModel::new([]))
}

/// A tool of any name.
struct Named(&'static str);

#[async_trait::async_trait]
impl Tool for Named {
    fn declaration(&self) -> Declaration {
        Declaration::new(self.0, "Does nothing.", json!({"type": "object"}))
    }
    async fn call(&self, _: Map<String, Value>, _: ToolContext) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text(""))
    }
}

#[test]
fn an_agent_without_a_model_or_without_turns() {
    refused(
        Agent::builder("planner"),
        expect!["the agent `planner` has no model: give it one with `.model(…)`"],
    );
    refused(
        named("planner").max_iterations(0),
        expect!["the agent `planner` may take no turn: set max_iterations to 1 or more"],
    );
}

#[test]
fn an_agent_named_badly() {
    refused(
        named("天气"),
        expect!["`天气` is no name for an agent: use the letters a-z and A-Z, digits, `_` and `-`"],
    );
    refused(
        named("llm"),
        expect![
            "`llm` is no name for an agent: in addresses that word means something else; take another, such as `llm_agent`"
        ],
    );
    // `step` is a scope that the look-up of addresses skips: such a sub-agent would use its caller's model.
    for bad in ["", "a b", "a/b", "a#2", "user", "final", "clock", "step", "topic:x", "llm", "a.b"] {
        let error = named(bad).build().map(|_| bad).unwrap_err();
        assert!(error.to_string().starts_with(&format!("`{bad}` is no name")), "{error}");
    }
    for good in ["planner", "step_by_step", "Agent-2"] {
        assert!(named(good).build().is_ok(), "{good}");
    }
}

#[test]
fn tools_named_twice_or_unlawfully() {
    refused(
        named("planner").tool(weather).tool(weather),
        expect!["the agent `planner` has two tools named `weather`: rename one"],
    );
    refused(
        named("planner").tool(Named("weather")).tool(named("weather").build().unwrap().as_tool("")),
        expect!["the agent `planner` has two tools named `weather`: rename one"],
    );
    refused(
        named("planner").tool(Named("get weather")),
        expect![[
            r#"the agent `planner` has an unlawful tool: `get weather` cannot be the name of a tool: providers accept 1 to 64 of the characters a-z A-Z 0-9 _ -. Give it another, with #[tool(name = "…")] or in its Declaration"#
        ]],
    );
}

#[tokio::test]
async fn an_empty_task_is_no_task_and_leaves_nothing_behind() {
    let runtime = Runtime::for_tests();
    let agent = scripted(&runtime, []).build().unwrap();
    let error = agent.run(" \n").await.unwrap_err();
    assert_eq!(error.to_string(), "the task is empty: say what should be done");
    assert_eq!(crate::script::journal(&runtime), "");
}

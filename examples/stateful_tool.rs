//! Tools with a database, and an order that is not doubled: methods over one shop, a state, who asks, progress, and a key.
//!
//! The line to the shop breaks just after the sale. The second attempt has the same key, finds the receipt, and sells nothing.

use std::collections::HashMap;

use hermes_actors::protocol::ToolProgress;
use hermes_actors::tool::{State, ToolContext};
use hermes_actors::{Agent, TaskRequest, tool};
use hermes_llm::{ScriptedModel, Step, from_env_or};
use serde::Serialize;
use serde_json::json;
use tokio::sync::Mutex;

/// The receipts by their keys: what a database keeps in a table with a unique key.
#[derive(Default)]
struct Receipts(Mutex<HashMap<String, Receipt>>);

#[derive(Clone, Serialize)]
struct Receipt {
    customer: Option<String>,
    thing: String,
    left: u32,
}

/// A shop whose methods are tools over one stock.
struct Shop(Mutex<HashMap<&'static str, u32>>);

#[tool]
impl Shop {
    /// How many of a thing are in stock. Ask this before you order.
    #[tool(read_only)]
    async fn in_stock(
        &self,
        /// the thing's name, such as `umbrella`
        thing: String,
    ) -> Result<u32, String> {
        self.0.lock().await.get(thing.as_str()).copied().ok_or(format!("we do not sell `{thing}`"))
    }

    /// Orders things. A second attempt of one call changes nothing more.
    #[tool(idempotent, retries = 2, timeout = "5s")]
    async fn order(
        &self,
        /// the thing's name
        thing: String,
        /// how many
        #[default(1)]
        count: u32,
        receipts: State<Receipts>,
        context: &ToolContext,
    ) -> Result<Receipt, String> {
        context.progress_of(1, 2, "looking for an earlier attempt");
        let mut receipts = receipts.0.lock().await;
        if let Some(earlier) = receipts.get(context.idempotency_key()) {
            return Ok(earlier.clone());
        }
        context.progress_of(2, 2, format!("taking {count} {thing}"));
        let mut stock = self.0.lock().await;
        let left =
            stock.get_mut(thing.as_str()).filter(|left| **left >= count).ok_or("not enough in stock")?;
        *left -= count;
        let receipt = Receipt { customer: context.meta().get("customer").cloned(), thing, left: *left };
        receipts.insert(context.idempotency_key().to_owned(), receipt);
        Err("the line broke before the receipt came".to_owned())
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .without_time()
        .with_level(false)
        .with_target(false)
        .init();
    let script = ScriptedModel::new([
        Step::call("in_stock", json!({"thing": "umbrella"})),
        Step::call("order", json!({"thing": "umbrella"})).expect_tool_result("OK: 3"),
        Step::text("Your umbrella is on its way; two are left.").expect_tool_result(r#""left":2"#),
    ]);
    let agent = Agent::builder("shop_assistant")
        .system_prompt("You sell what is in stock.")
        .model(from_env_or(script)?)
        .tools(Shop(Mutex::new(HashMap::from([("umbrella", 3)]))))
        .state(Receipts::default())
        .build()?;
    let handle = agent.start(TaskRequest::new("One umbrella, please.").meta("customer", "ana")).await?;
    // The flow is printed from the journal, a moment later: so progress may stand above the line of its call.
    let mut envelopes = handle.envelopes();
    while let Some(envelope) = envelopes.next().await? {
        if let Ok(progress) = envelope.get::<ToolProgress>() {
            eprintln!("    … {}", progress.text);
        }
    }
    let outcome = handle.outcome().await;
    eprintln!("{}", outcome.summary());
    println!("{}", outcome.into_answer()?);
    Ok(())
}

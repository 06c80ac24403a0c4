//! What a `#[tool]` gets that the model does not see, methods that are tools, and results that are more than text.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use expect_test::expect;
use hermes_actors::tool;
use hermes_actors::tool::{
    Declaration, Effect, Image, State, StateNeed, Tool, ToolContext, ToolError, ToolOutput, ToolSet, shown,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

async fn call(tool: impl Tool, arguments: Value, context: ToolContext) -> String {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    shown(&tool.call(arguments, context).await)
}

type Stock = Mutex<Vec<String>>;

/// Puts a thing into the stock.
#[tool]
async fn store(
    /// what
    thing: String,
    stock: State<Stock>,
    context: &ToolContext,
) -> String {
    stock.lock().unwrap().push(thing.clone());
    format!("{thing} for {} as {}", context.meta()["user"], context.idempotency_key())
}

/// Counts the stock, off the event loop.
#[tool(read_only)]
fn count(context: ToolContext, stock: State<Stock>, greeting: State<&'static str>) -> String {
    format!("{} {} in {}", *greeting, stock.lock().unwrap().len(), context.call_id)
}

#[tokio::test]
async fn states_and_the_context_come_from_the_program_and_are_not_in_the_schema() {
    let context = ToolContext::new("t1.0")
        .with_state(Stock::default())
        .with_state("你好")
        .with_meta("user", "ana")
        .with_idempotency_key("k7");
    assert_eq!(call(store(), json!({"thing": "伞"}), context.clone()).await, "OK: 伞 for ana as k7");
    assert_eq!(call(count(), json!({}), context).await, "OK: 你好 1 in t1.0");
    assert_eq!(store().declaration().parameters["required"], json!(["thing"]));
    assert_eq!(count().declaration().parameters["properties"], json!({}));
    assert_eq!(count().needs(), [StateNeed::of::<Stock>(), StateNeed::of::<&'static str>()]);
    assert_eq!(
        call(count(), json!({}), ToolContext::new("t1.0")).await,
        "ERROR: the tool cannot work: the program has set no `State<Mutex<Vec<String>>>`"
    );
    // As plain functions they are there too.
    let stock = State::new(Stock::default());
    assert_eq!(count::direct(ToolContext::new("t9.9"), stock, State::new("hi")), "hi 0 in t9.9");
}

/// A till that several tools share.
#[derive(Default)]
struct Till {
    total: AtomicU32,
}

#[tool]
impl Till {
    /// Takes money in.
    #[tool(name = "pay_in", max_concurrent = 3, repeatable)]
    async fn pay(
        &self,
        /// how much
        #[default(1)]
        amount: u32,
    ) -> u32 {
        self.add(amount)
    }

    /// What is in the till.
    #[tool(read_only, retries = 2)]
    fn total(&self, context: &ToolContext) -> Result<String, String> {
        Ok(format!("{} ({})", self.total.load(Ordering::Relaxed), context.call_id))
    }

    /// Is not there, as its type is not.
    #[cfg(any())]
    #[tool]
    fn gone(&self) -> Gone {}

    fn add(&self, amount: u32) -> u32 {
        self.total.fetch_add(amount, Ordering::Relaxed) + amount
    }
}

#[tokio::test]
async fn marked_methods_are_tools_over_one_value_and_stay_methods() {
    let till = std::sync::Arc::new(Till::default());
    assert_eq!(till.pay(4).await, 4);
    let [pay, total] = <[Box<dyn Tool>; 2]>::try_from(till.clone().tools()).ok().unwrap();
    assert_eq!(call(pay, json!({}), ToolContext::new("t1.0")).await, "OK: 5");
    assert_eq!(call(total, json!({}), ToolContext::new("t1.1")).await, "OK: 5 (t1.1)");
    let declared: Vec<_> = till.tools().iter().map(|tool| tool.declaration()).collect();
    assert_eq!(
        (declared[0].name.as_str(), declared[0].max_concurrent, declared[0].repeatable),
        ("pay_in", Some(3), true)
    );
    assert_eq!((declared[1].effect, declared[1].retries), (Effect::ReadOnly, 2));
}

#[derive(Serialize)]
struct Report {
    pages: Vec<String>,
}

fn number_of_pages(report: &Report) -> String {
    format!("a report of {} pages", report.pages.len())
}

/// Reports.
#[tool(read_only, summary = number_of_pages)]
async fn report() -> Result<Report, String> {
    Ok(Report { pages: vec!["第一页".to_owned(), "2".to_owned()] })
}

/// Draws.
#[tool(read_only)]
async fn draw() -> Image {
    Image::new("image/png", b"png")
}

/// Draws and says what.
#[tool(read_only)]
async fn explain() -> Result<ToolOutput, ToolError> {
    Ok(ToolOutput::text("a map").with_image(Image::at("image/jpeg", "https://example.com/map.jpg")))
}

async fn output(tool: impl Tool) -> ToolOutput {
    tool.call(serde_json::Map::new(), ToolContext::new("t1.0")).await.unwrap()
}

#[tokio::test]
async fn a_result_may_have_a_summary_and_images() {
    let whole = output(report()).await;
    assert_eq!(whole.shown(), "a report of 2 pages");
    assert_eq!(whole.result, json!({"pages": ["第一页", "2"]}));
    let drawn = output(draw()).await;
    assert_eq!(
        (drawn.shown().as_str(), drawn.images[0].url().as_str()),
        ("1 image", "data:image/png;base64,cG5n")
    );
    assert_eq!(drawn.images[0].bytes().as_deref(), Some(&b"png"[..]));
    let explained = output(explain()).await;
    assert_eq!(
        (explained.shown().as_str(), explained.images[0].url().as_str()),
        ("a map", "https://example.com/map.jpg")
    );
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Row {
    /// the row's number
    id: u32,
}

#[tokio::test]
async fn a_closure_is_a_tool_with_a_schema_given_or_derived() {
    let declaration = Declaration::of::<Row>("read_orders", "One order.").effect(Effect::ReadOnly);
    let table = "orders";
    let read = tool::from_fn(declaration, move |row: Row, context: ToolContext| async move {
        context.progress_of(1, 1, "told to nobody here");
        Ok(json!({"table": table, "id": row.id}))
    });
    expect![[r#"{"properties":{"id":{"description":"the row's number","minimum":0,"type":"integer"}},"required":["id"],"type":"object"}"#]]
        .assert_eq(&read.declaration().parameters.to_string());
    let read = std::sync::Arc::new(read);
    assert_eq!(
        call(read.clone(), json!({"id": 3}), ToolContext::new("t1.0")).await,
        r#"OK: {"id":3,"table":"orders"}"#
    );
    assert_eq!(
        call(read, json!({"id": "3"}), ToolContext::new("t1.0")).await,
        "ERROR: unusable arguments: `id`: the string \"3\" is not a whole number, 0 or more"
    );
}

//! The flow: what is printed while a task runs, in the cases in which a line must say more than who spoke to whom.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use expect_test::expect;
use hermes_actors::{Agent, Runtime, tool};
use hermes_llm::{ScriptedModel, Step};
use serde_json::json;

/// Takes an hour.
#[tool(read_only, timeout = "200ms")]
async fn slow() -> String {
    tokio::time::sleep(Duration::from_secs(3600)).await;
    String::new()
}

/// Fails.
#[tool(read_only)]
async fn fails() -> Result<String, String> {
    Err("无法完成".to_owned())
}

/// Wipes everything.
#[tool(destructive)]
async fn wipe() -> String {
    unreachable!("it needs an approval")
}

/// Where the printer writes to.
#[derive(Clone, Default)]
struct Page(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Page {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn each_line_says_which_call_it_is_about_and_none_is_missing() {
    let page = Page::default();
    let writer = page.clone();
    let printer = tracing_subscriber::fmt().with_writer(move || writer.clone()).with_ansi(false);
    let printer = printer.without_time().with_level(false).with_target(false).finish();
    let _guard = tracing::subscriber::set_default(printer);

    let runtime = Runtime::for_tests();
    let calls = [("slow", json!({})), ("fails", json!({})), ("wipe", json!({})), ("fly", json!({}))];
    let answer = Step::text("\u{1b}[31mred\u{202e} and\nlong");
    let model = ScriptedModel::new([Step::calls(calls), answer]);
    let agent = Agent::builder("assistant").model(model).tool(slow).tool(fails).tool(wipe);
    agent.runtime(&runtime).build().unwrap().run("go").await.unwrap();

    expect![[r#"
        [00] COMMAND user -> orchestrator: go
        [01] COMMAND orchestrator -> llm: go
        [02] EVENT   llm -> orchestrator: tool_calls[slow(), fails(), wipe(), fly()]
             EVENT   orchestrator -> orchestrator: wipe: ERROR: `wipe` needs an approval and nobody can give it here; it was not run
             EVENT   orchestrator -> orchestrator: fly: ERROR: there is no tool `fly`. The tools are: slow, fails, wipe
        [03] COMMAND orchestrator -> tool.slow: {} (t1.0)
        [04] COMMAND orchestrator -> tool.fails: {} (t1.1)
        [05] EVENT   tool.fails -> orchestrator: ERROR: 无法完成 (t1.1)
        [06] EVENT   orchestrator -> orchestrator: slow: ERROR: the tool did not answer within 0.2 s: ask it for less, or go on without it (t1.0)
        [07] COMMAND orchestrator -> llm: tool results: slow, fails, wipe, fly
        [08] EVENT   llm -> orchestrator:  [31mred and long
        [09] EVENT   orchestrator -> final:  [31mred and long
    "#]].assert_eq(&String::from_utf8(page.0.lock().unwrap().clone()).unwrap());
}

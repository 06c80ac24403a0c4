//! Exact journals: what is said for each way in which a turn can go.

use std::time::Duration;

use expect_test::{Expect, expect};
use hermes_actors::{Agent, AgentBuilder, AtLimit, Outcome, Runtime, tool};
use hermes_llm::{ScriptedModel, Step};
use serde_json::json;

use crate::script::journal;

/// 获取指定城市的天气。
///
/// # 参数
/// - city：城市名
#[tool(read_only)]
async fn get_weather(city: String) -> String {
    // 上海 answers first, so that results come in another order than their calls.
    let wait = if city == "北京" { 20 } else { 10 };
    tokio::time::sleep(Duration::from_millis(wait)).await;
    format!("{city}：晴")
}

/// Takes an hour.
#[tool(timeout = "1s")]
async fn dig() -> String {
    tokio::time::sleep(Duration::from_secs(3600)).await;
    "done".to_owned()
}

/// Breaks down.
#[tool]
async fn explode() -> String {
    panic!("boom")
}

fn agent(runtime: &Runtime, steps: impl IntoIterator<Item = Step>) -> AgentBuilder {
    let model = ScriptedModel::new(steps);
    Agent::builder("assistant").model(model).tool(get_weather).tool(dig).tool(explode).runtime(runtime)
}

/// Runs one task and compares its journal.
async fn check(steps: impl IntoIterator<Item = Step>, journal_is: Expect) -> Outcome {
    let runtime = Runtime::for_tests();
    let outcome = agent(&runtime, steps).build().unwrap().run("天气？").await.unwrap();
    journal_is.assert_eq(&journal(&runtime));
    outcome
}

#[tokio::test(start_paused = true)]
async fn weather() {
    let steps = [Step::call("get_weather", json!({"city": "北京"})), Step::text("适合出门 🌞")];
    check(steps, expect![[r##"
        1 task.start user -> orchestrator () {"task":"天气？"}
        2 llm.chat orchestrator -> llm (1) {"append":[{"of":"#1"}],"turn":1}
        3 llm.replied llm -> orchestrator (2) ends 2 {"finish":"tool_calls","message":{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{\"city\":\"北京\"}","name":"get_weather"},"id":"t1.0","type":"function"}]},"provider_ids":{"t1.0":"call_1_0"}}
        4 tool.call orchestrator -> tool.get_weather (3) {"arguments":{"city":"北京"},"call_id":"t1.0","effect":"read_only","tool":"get_weather"}
        5 tool.started tool.get_weather -> tool.get_weather (4) {"call_id":"t1.0"}
        6 tool.returned tool.get_weather -> orchestrator (5) ends 4 begun {"call_id":"t1.0","result":"北京：晴","shown":"OK: 北京：晴"}
        7 llm.chat orchestrator -> llm (6) {"append":[{"of":"#3"},{"of":"#6"}],"turn":2}
        8 llm.replied llm -> orchestrator (7) ends 7 {"finish":"stop","message":{"content":"适合出门 🌞","role":"assistant"}}
        9 task.finished orchestrator -> final (8) ends 1 {"answer":"适合出门 🌞","gathered":[{"call_id":"t1.0","of":"#6","tool":"get_weather"}],"outcome":"completed"}
    "##]]).await;
}

#[tokio::test(start_paused = true)]
async fn parallel_results_enter_in_the_order_of_the_calls() {
    let calls = [("get_weather", json!({"city": "北京"})), ("get_weather", json!({"city": "上海"}))];
    check([Step::calls(calls), Step::text("一样")], expect![[r##"
        1 task.start user -> orchestrator () {"task":"天气？"}
        2 llm.chat orchestrator -> llm (1) {"append":[{"of":"#1"}],"turn":1}
        3 llm.replied llm -> orchestrator (2) ends 2 {"finish":"tool_calls","message":{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{\"city\":\"北京\"}","name":"get_weather"},"id":"t1.0","type":"function"},{"function":{"arguments":"{\"city\":\"上海\"}","name":"get_weather"},"id":"t1.1","type":"function"}]},"provider_ids":{"t1.0":"call_1_0","t1.1":"call_1_1"}}
        4 tool.call orchestrator -> tool.get_weather (3) {"arguments":{"city":"北京"},"call_id":"t1.0","effect":"read_only","tool":"get_weather"}
        5 tool.call orchestrator -> tool.get_weather (3) {"arguments":{"city":"上海"},"call_id":"t1.1","effect":"read_only","tool":"get_weather"}
        6 tool.started tool.get_weather -> tool.get_weather (4) {"call_id":"t1.0"}
        7 tool.started tool.get_weather -> tool.get_weather (5) {"call_id":"t1.1"}
        8 tool.returned tool.get_weather -> orchestrator (7) ends 5 begun {"call_id":"t1.1","result":"上海：晴","shown":"OK: 上海：晴"}
        9 tool.returned tool.get_weather -> orchestrator (6) ends 4 begun {"call_id":"t1.0","result":"北京：晴","shown":"OK: 北京：晴"}
        10 llm.chat orchestrator -> llm (9) {"append":[{"of":"#3"},{"of":"#9"},{"of":"#8"}],"turn":2}
        11 llm.replied llm -> orchestrator (10) ends 10 {"finish":"stop","message":{"content":"一样","role":"assistant"}}
        12 task.finished orchestrator -> final (11) ends 1 {"answer":"一样","gathered":[{"call_id":"t1.1","of":"#8","tool":"get_weather"},{"call_id":"t1.0","of":"#9","tool":"get_weather"}],"outcome":"completed"}
    "##]]).await;
}

#[tokio::test(start_paused = true)]
async fn a_panicking_and_a_slow_tool_cost_no_sibling() {
    let calls = [("explode", json!({})), ("dig", json!({})), ("get_weather", json!({"city": "上海"}))];
    check([Step::calls(calls), Step::text("ok")], expect![[r##"
        1 task.start user -> orchestrator () {"task":"天气？"}
        2 llm.chat orchestrator -> llm (1) {"append":[{"of":"#1"}],"turn":1}
        3 llm.replied llm -> orchestrator (2) ends 2 {"finish":"tool_calls","message":{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{}","name":"explode"},"id":"t1.0","type":"function"},{"function":{"arguments":"{}","name":"dig"},"id":"t1.1","type":"function"},{"function":{"arguments":"{\"city\":\"上海\"}","name":"get_weather"},"id":"t1.2","type":"function"}]},"provider_ids":{"t1.0":"call_1_0","t1.1":"call_1_1","t1.2":"call_1_2"}}
        4 tool.call orchestrator -> tool.explode (3) {"arguments":{},"call_id":"t1.0","effect":"may_change","tool":"explode"}
        5 tool.call orchestrator -> tool.dig (3) {"arguments":{},"call_id":"t1.1","effect":"may_change","tool":"dig"}
        6 tool.call orchestrator -> tool.get_weather (3) {"arguments":{"city":"上海"},"call_id":"t1.2","effect":"read_only","tool":"get_weather"}
        7 tool.started tool.explode -> tool.explode (4) {"call_id":"t1.0"}
        8 tool.started tool.dig -> tool.dig (5) {"call_id":"t1.1"}
        9 tool.started tool.get_weather -> tool.get_weather (6) {"call_id":"t1.2"}
        10 tool.failed tool.explode -> orchestrator (4) ends 4 begun {"call_id":"t1.0","error":{"kind":"panicked","message":"the tool panicked: boom"},"shown":"ERROR: the tool broke down: this is a bug in it"}
        11 tool.returned tool.get_weather -> orchestrator (9) ends 6 begun {"call_id":"t1.2","result":"上海：晴","shown":"OK: 上海：晴"}
        12 timer.fired clock -> orchestrator (5) {"guards":"#5","timer":"timeout"}
        13 tool.failed orchestrator -> orchestrator (12) ends 5 begun {"call_id":"t1.1","error":{"kind":"timeout","message":"the tool did not answer within 1 s: whether it has done its work is not known"},"shown":"ERROR: the tool did not answer within 1 s: whether it has done its work is not known"}
        14 llm.chat orchestrator -> llm (13) {"append":[{"of":"#3"},{"of":"#10"},{"of":"#13"},{"of":"#11"}],"turn":2}
        15 llm.replied llm -> orchestrator (14) ends 14 {"finish":"stop","message":{"content":"ok","role":"assistant"}}
        16 task.finished orchestrator -> final (15) ends 1 {"answer":"ok","gathered":[{"call_id":"t1.2","of":"#11","tool":"get_weather"}],"outcome":"completed"}
    "##]]).await;
}

#[tokio::test(start_paused = true)]
async fn an_unknown_tool_and_unusable_arguments_are_answered_to_the_model() {
    let calls = [("fly", json!({})), ("get_weather", json!("{\"city\": ")), ("get_weather", json!("[1]"))];
    check([Step::calls(calls), Step::text("sorry")], expect![[r##"
        1 task.start user -> orchestrator () {"task":"天气？"}
        2 llm.chat orchestrator -> llm (1) {"append":[{"of":"#1"}],"turn":1}
        3 llm.replied llm -> orchestrator (2) ends 2 {"finish":"tool_calls","message":{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{}","name":"fly"},"id":"t1.0","type":"function"},{"function":{"arguments":"{\"city\": ","name":"get_weather"},"id":"t1.1","type":"function"},{"function":{"arguments":"[1]","name":"get_weather"},"id":"t1.2","type":"function"}]},"provider_ids":{"t1.0":"call_1_0","t1.1":"call_1_1","t1.2":"call_1_2"}}
        4 tool.rejected orchestrator -> orchestrator (3) {"call_id":"t1.0","reason":"unknown","shown":"ERROR: there is no tool `fly`. The tools are: get_weather, dig, explode","tool":"fly"}
        5 tool.rejected orchestrator -> orchestrator (3) {"call_id":"t1.1","reason":"unusable_arguments","shown":"ERROR: the arguments are not valid JSON (EOF while parsing a value at line 1 column 9); call the tool again with valid JSON","tool":"get_weather"}
        6 tool.rejected orchestrator -> orchestrator (3) {"call_id":"t1.2","reason":"unusable_arguments","shown":"ERROR: the arguments are not a JSON object; call the tool again with an object","tool":"get_weather"}
        7 llm.chat orchestrator -> llm (3) {"append":[{"of":"#3"},{"of":"#4"},{"of":"#5"},{"of":"#6"}],"turn":2}
        8 llm.replied llm -> orchestrator (7) ends 7 {"finish":"stop","message":{"content":"sorry","role":"assistant"}}
        9 task.finished orchestrator -> final (8) ends 1 {"answer":"sorry","outcome":"completed"}
    "##]]).await;
}

#[tokio::test(start_paused = true)]
async fn at_the_limit_the_model_answers_once_more_without_tools() {
    let runtime = Runtime::for_tests();
    let steps = [Step::call("get_weather", json!({"city": "北京"})), Step::text("so far: 晴")];
    let agent = agent(&runtime, steps).max_iterations(1).build().unwrap();
    agent.run("天气？").await.unwrap();
    expect![[r##"
        1 task.start user -> orchestrator () {"task":"天气？"}
        2 llm.chat orchestrator -> llm (1) {"append":[{"of":"#1"}],"turn":1}
        3 llm.replied llm -> orchestrator (2) ends 2 {"finish":"tool_calls","message":{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{\"city\":\"北京\"}","name":"get_weather"},"id":"t1.0","type":"function"}]},"provider_ids":{"t1.0":"call_1_0"}}
        4 tool.call orchestrator -> tool.get_weather (3) {"arguments":{"city":"北京"},"call_id":"t1.0","effect":"read_only","tool":"get_weather"}
        5 tool.started tool.get_weather -> tool.get_weather (4) {"call_id":"t1.0"}
        6 tool.returned tool.get_weather -> orchestrator (5) ends 4 begun {"call_id":"t1.0","result":"北京：晴","shown":"OK: 北京：晴"}
        7 llm.chat orchestrator -> llm (6) {"append":[{"of":"#3"},{"of":"#6"},{"content":"You have used all your turns. Answer now from what you have gathered; no tool can be called any more.","role":"user"}],"settings":{"temperature":0.0,"tool_choice":"none"},"turn":2}
        8 llm.replied llm -> orchestrator (7) ends 7 {"finish":"stop","message":{"content":"so far: 晴","role":"assistant"}}
        9 task.finished orchestrator -> final (8) ends 1 {"answer":"so far: 晴","gathered":[{"call_id":"t1.0","of":"#6","tool":"get_weather"}],"outcome":"max_iterations"}
    "##]].assert_eq(&journal(&runtime));
}

#[tokio::test(start_paused = true)]
async fn or_the_task_stops_there() {
    let runtime = Runtime::for_tests();
    let steps = [Step::call("get_weather", json!({"city": "北京"}))];
    let agent = agent(&runtime, steps).max_iterations(1).at_limit(AtLimit::Stop).build().unwrap();
    let outcome = agent.run("天气？").await.unwrap();
    assert_eq!(outcome.gathered[0].shown, "OK: 北京：晴");
    expect![[r##"
        1 task.start user -> orchestrator () {"task":"天气？"}
        2 llm.chat orchestrator -> llm (1) {"append":[{"of":"#1"}],"turn":1}
        3 llm.replied llm -> orchestrator (2) ends 2 {"finish":"tool_calls","message":{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{\"city\":\"北京\"}","name":"get_weather"},"id":"t1.0","type":"function"}]},"provider_ids":{"t1.0":"call_1_0"}}
        4 tool.call orchestrator -> tool.get_weather (3) {"arguments":{"city":"北京"},"call_id":"t1.0","effect":"read_only","tool":"get_weather"}
        5 tool.started tool.get_weather -> tool.get_weather (4) {"call_id":"t1.0"}
        6 tool.returned tool.get_weather -> orchestrator (5) ends 4 begun {"call_id":"t1.0","result":"北京：晴","shown":"OK: 北京：晴"}
        7 task.finished orchestrator -> final (6) ends 1 {"gathered":[{"call_id":"t1.0","of":"#6","tool":"get_weather"}],"outcome":"max_iterations"}
    "##]].assert_eq(&journal(&runtime));
}

/// Starts one task, cancels it after a moment, and compares its journal.
async fn cancelled(steps: impl IntoIterator<Item = Step>, journal_is: Expect) {
    let runtime = Runtime::for_tests();
    let handle = agent(&runtime, steps).tools_at_once(2).build().unwrap().start("天气？").await.unwrap();
    tokio::time::sleep(Duration::from_millis(15)).await;
    handle.cancel();
    handle.outcome().await;
    journal_is.assert_eq(&journal(&runtime));
}

#[tokio::test(start_paused = true)]
async fn cancel_during_a_model_call() {
    cancelled([Step::hang()], expect![[r##"
        1 task.start user -> orchestrator () {"task":"天气？"}
        2 llm.chat orchestrator -> llm (1) {"append":[{"of":"#1"}],"turn":1}
        3 task.cancel user -> orchestrator (1) {}
        4 task.cancelling orchestrator -> user (3) ends 3 {}
        5 llm.failed orchestrator -> orchestrator (3) ends 2 {"kind":"cancelled","message":"the task was cancelled"}
        6 task.finished orchestrator -> final (5) ends 1 {"outcome":"cancelled"}
    "##]]).await;
}

#[tokio::test(start_paused = true)]
async fn cancel_during_tools_ends_each_call_once() {
    let calls = [
        ("get_weather", json!({"city": "上海"})),
        ("dig", json!({})),
        ("dig", json!({})),
        ("dig", json!({})),
    ];
    cancelled([Step::calls(calls)], expect![[r##"
        1 task.start user -> orchestrator () {"task":"天气？"}
        2 llm.chat orchestrator -> llm (1) {"append":[{"of":"#1"}],"turn":1}
        3 llm.replied llm -> orchestrator (2) ends 2 {"finish":"tool_calls","message":{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{\"city\":\"上海\"}","name":"get_weather"},"id":"t1.0","type":"function"},{"function":{"arguments":"{}","name":"dig"},"id":"t1.1","type":"function"},{"function":{"arguments":"{}","name":"dig"},"id":"t1.2","type":"function"},{"function":{"arguments":"{}","name":"dig"},"id":"t1.3","type":"function"}]},"provider_ids":{"t1.0":"call_1_0","t1.1":"call_1_1","t1.2":"call_1_2","t1.3":"call_1_3"}}
        4 tool.call orchestrator -> tool.get_weather (3) {"arguments":{"city":"上海"},"call_id":"t1.0","effect":"read_only","tool":"get_weather"}
        5 tool.call orchestrator -> tool.dig (3) {"arguments":{},"call_id":"t1.1","effect":"may_change","tool":"dig"}
        6 tool.started tool.get_weather -> tool.get_weather (4) {"call_id":"t1.0"}
        7 tool.started tool.dig -> tool.dig (5) {"call_id":"t1.1"}
        8 tool.returned tool.get_weather -> orchestrator (6) ends 4 begun {"call_id":"t1.0","result":"上海：晴","shown":"OK: 上海：晴"}
        9 tool.call orchestrator -> tool.dig (8) {"arguments":{},"call_id":"t1.2","effect":"may_change","tool":"dig"}
        10 tool.started tool.dig -> tool.dig (9) {"call_id":"t1.2"}
        11 task.cancel user -> orchestrator (1) {}
        12 task.cancelling orchestrator -> user (11) ends 11 {}
        13 tool.rejected orchestrator -> orchestrator (11) {"call_id":"t1.3","reason":"cancelled","shown":"ERROR: the task ended before this call was made","tool":"dig"}
        14 tool.failed orchestrator -> orchestrator (11) ends 5 begun {"call_id":"t1.1","error":{"kind":"cancelled","message":"the task was cancelled"},"shown":"ERROR: the task was cancelled"}
        15 tool.failed orchestrator -> orchestrator (11) ends 9 begun {"call_id":"t1.2","error":{"kind":"cancelled","message":"the task was cancelled"},"shown":"ERROR: the task was cancelled"}
        16 task.finished orchestrator -> final (15) ends 1 {"gathered":[{"call_id":"t1.0","of":"#8","tool":"get_weather"}],"outcome":"cancelled"}
    "##]]).await;
}

#[tokio::test(start_paused = true)]
async fn a_deadline_stops_the_task_with_what_was_gathered() {
    let runtime = Runtime::for_tests();
    let steps = [Step::call("get_weather", json!({"city": "北京"})), Step::hang()];
    let agent = agent(&runtime, steps).deadline(Duration::from_secs(1)).build().unwrap();
    agent.run("天气？").await.unwrap();
    expect![[r##"
        1 task.start user -> orchestrator () {"task":"天气？"}
        2 llm.chat orchestrator -> llm (1) {"append":[{"of":"#1"}],"turn":1}
        3 llm.replied llm -> orchestrator (2) ends 2 {"finish":"tool_calls","message":{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{\"city\":\"北京\"}","name":"get_weather"},"id":"t1.0","type":"function"}]},"provider_ids":{"t1.0":"call_1_0"}}
        4 tool.call orchestrator -> tool.get_weather (3) {"arguments":{"city":"北京"},"call_id":"t1.0","effect":"read_only","tool":"get_weather"}
        5 tool.started tool.get_weather -> tool.get_weather (4) {"call_id":"t1.0"}
        6 tool.returned tool.get_weather -> orchestrator (5) ends 4 begun {"call_id":"t1.0","result":"北京：晴","shown":"OK: 北京：晴"}
        7 llm.chat orchestrator -> llm (6) {"append":[{"of":"#3"},{"of":"#6"}],"turn":2}
        8 timer.fired clock -> orchestrator (1) {"guards":"#1","timer":"deadline"}
        9 llm.failed orchestrator -> orchestrator (8) ends 7 {"kind":"cancelled","message":"the task's time was over"}
        10 task.finished orchestrator -> final (9) ends 1 {"gathered":[{"call_id":"t1.0","of":"#6","tool":"get_weather"}],"outcome":"deadline"}
    "##]].assert_eq(&journal(&runtime));
}

#[tokio::test(start_paused = true)]
async fn two_calls_of_a_sub_agent_at_once_are_numbered() {
    let runtime = Runtime::for_tests();
    let thinker = ScriptedModel::conversation([Step::text("42").after(Duration::from_millis(5))]);
    let researcher = Agent::builder("researcher").system_prompt("Be brief.").model(thinker).build().unwrap();
    let calls = [("researcher", json!({"task": "one"})), ("researcher", json!({"task": "two"}))];
    let agent = agent(&runtime, [Step::calls(calls), Step::text("both 42")]);
    let agent = agent.tool(researcher.as_tool("finds things out")).build().unwrap();
    agent.run("天气？").await.unwrap();
    expect![[r##"
        1 task.start user -> orchestrator () {"task":"天气？"}
        2 llm.chat orchestrator -> llm (1) {"append":[{"of":"#1"}],"turn":1}
        3 llm.replied llm -> orchestrator (2) ends 2 {"finish":"tool_calls","message":{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{\"task\":\"one\"}","name":"researcher"},"id":"t1.0","type":"function"},{"function":{"arguments":"{\"task\":\"two\"}","name":"researcher"},"id":"t1.1","type":"function"}]},"provider_ids":{"t1.0":"call_1_0","t1.1":"call_1_1"}}
        4 tool.call orchestrator -> tool.researcher (3) {"arguments":{"task":"one"},"call_id":"t1.0","effect":"may_change","tool":"researcher"}
        5 tool.call orchestrator -> tool.researcher (3) {"arguments":{"task":"two"},"call_id":"t1.1","effect":"may_change","tool":"researcher"}
        6 task.start tool.researcher -> researcher/orchestrator (4) {"task":"one"}
        7 task.start tool.researcher -> researcher#2/orchestrator (5) {"task":"two"}
        8 llm.chat researcher/orchestrator -> researcher/llm (6) {"append":[{"of":"#6"}],"turn":1}
        9 llm.chat researcher#2/orchestrator -> researcher#2/llm (7) {"append":[{"of":"#7"}],"turn":1}
        10 llm.replied researcher/llm -> researcher/orchestrator (8) ends 8 {"finish":"stop","message":{"content":"42","role":"assistant"}}
        11 llm.replied researcher#2/llm -> researcher#2/orchestrator (9) ends 9 {"finish":"stop","message":{"content":"42","role":"assistant"}}
        12 task.finished researcher/orchestrator -> tool.researcher (10) ends 6 {"answer":"42","outcome":"completed"}
        13 task.finished researcher#2/orchestrator -> tool.researcher (11) ends 7 {"answer":"42","outcome":"completed"}
        14 tool.returned tool.researcher -> orchestrator (12) ends 4 {"call_id":"t1.0","result":"42","shown":"OK: 42","spent":{"input_tokens":19,"llm_calls":1,"output_tokens":9,"tool_calls":0,"tool_failures":0}}
        15 tool.returned tool.researcher -> orchestrator (13) ends 5 {"call_id":"t1.1","result":"42","shown":"OK: 42","spent":{"input_tokens":19,"llm_calls":1,"output_tokens":9,"tool_calls":0,"tool_failures":0}}
        16 llm.chat orchestrator -> llm (15) {"append":[{"of":"#3"},{"of":"#14"},{"of":"#15"}],"turn":2}
        17 llm.replied llm -> orchestrator (16) ends 16 {"finish":"stop","message":{"content":"both 42","role":"assistant"}}
        18 task.finished orchestrator -> final (17) ends 1 {"answer":"both 42","gathered":[{"call_id":"t1.0","of":"#14","tool":"researcher"},{"call_id":"t1.1","of":"#15","tool":"researcher"}],"outcome":"completed"}
    "##]].assert_eq(&journal(&runtime));
}

#[tokio::test(start_paused = true)]
async fn a_sub_agent_that_fails_gives_one_end_with_what_it_gathered() {
    let runtime = Runtime::for_tests();
    let steps = [Step::call("get_weather", json!({"city": "上海"})), Step::text(""), Step::text("")];
    let researcher =
        Agent::builder("researcher").model(ScriptedModel::new(steps)).tool(get_weather).build().unwrap();
    let agent = agent(&runtime, [Step::call("researcher", json!({"task": "one"})), Step::text("no luck")]);
    let agent = agent.tool(researcher.as_tool("finds things out")).build().unwrap();
    agent.run("天气？").await.unwrap();
    expect![[r##"
        1 task.start user -> orchestrator () {"task":"天气？"}
        2 llm.chat orchestrator -> llm (1) {"append":[{"of":"#1"}],"turn":1}
        3 llm.replied llm -> orchestrator (2) ends 2 {"finish":"tool_calls","message":{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{\"task\":\"one\"}","name":"researcher"},"id":"t1.0","type":"function"}]},"provider_ids":{"t1.0":"call_1_0"}}
        4 tool.call orchestrator -> tool.researcher (3) {"arguments":{"task":"one"},"call_id":"t1.0","effect":"may_change","tool":"researcher"}
        5 task.start tool.researcher -> researcher/orchestrator (4) {"task":"one"}
        6 llm.chat researcher/orchestrator -> researcher/llm (5) {"append":[{"of":"#5"}],"turn":1}
        7 llm.replied researcher/llm -> researcher/orchestrator (6) ends 6 {"finish":"tool_calls","message":{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{\"city\":\"上海\"}","name":"get_weather"},"id":"t1.0","type":"function"}]},"provider_ids":{"t1.0":"call_1_0"}}
        8 tool.call researcher/orchestrator -> researcher/tool.get_weather (7) {"arguments":{"city":"上海"},"call_id":"t1.0","effect":"read_only","tool":"get_weather"}
        9 tool.started researcher/tool.get_weather -> researcher/tool.get_weather (8) {"call_id":"t1.0"}
        10 tool.returned researcher/tool.get_weather -> researcher/orchestrator (9) ends 8 begun {"call_id":"t1.0","result":"上海：晴","shown":"OK: 上海：晴"}
        11 llm.chat researcher/orchestrator -> researcher/llm (10) {"append":[{"of":"#7"},{"of":"#10"}],"turn":2}
        12 llm.replied researcher/llm -> researcher/orchestrator (11) ends 11 {"finish":"stop","message":{"content":"","role":"assistant"}}
        13 llm.chat researcher/orchestrator -> researcher/llm (12) {"append":[],"retry_of":"#11","turn":3}
        14 llm.replied researcher/llm -> researcher/orchestrator (13) ends 13 {"finish":"stop","message":{"content":"","role":"assistant"}}
        15 task.finished researcher/orchestrator -> tool.researcher (14) ends 5 {"failure":{"kind":"empty_reply","message":"the model said nothing, twice"},"gathered":[{"call_id":"t1.0","of":"#10","tool":"get_weather"}],"outcome":"failed"}
        16 tool.failed tool.researcher -> orchestrator (15) ends 4 {"call_id":"t1.0","error":{"kind":"error","message":"the agent stopped without an answer (failed): the model said nothing, twice\nIt had gathered from get_weather: OK: 上海：晴"},"shown":"ERROR: the agent stopped without an answer (failed): the model said nothing, twice\nIt had gathered from get_weather: OK: 上海：晴","spent":{"input_tokens":275,"llm_calls":3,"output_tokens":56,"tool_calls":1,"tool_failures":0}}
        17 llm.chat orchestrator -> llm (16) {"append":[{"of":"#3"},{"of":"#16"}],"turn":2}
        18 llm.replied llm -> orchestrator (17) ends 17 {"finish":"stop","message":{"content":"no luck","role":"assistant"}}
        19 task.finished orchestrator -> final (18) ends 1 {"answer":"no luck","outcome":"completed"}
    "##]].assert_eq(&journal(&runtime));
}

#[tokio::test(start_paused = true)]
async fn cancel_reaches_a_sub_agent_which_ends_its_own_call() {
    let runtime = Runtime::for_tests();
    let researcher = Agent::builder("researcher").model(ScriptedModel::new([Step::hang()])).build().unwrap();
    let agent = agent(&runtime, [Step::call("researcher", json!({"task": "one"}))]);
    let agent = agent.tool(researcher.as_tool("finds things out")).build().unwrap();
    let handle = agent.start("天气？").await.unwrap();
    tokio::time::sleep(Duration::from_millis(15)).await;
    drop(handle);
    runtime.shutdown(Duration::from_secs(1)).await;
    expect![[r##"
        1 task.start user -> orchestrator () {"task":"天气？"}
        2 llm.chat orchestrator -> llm (1) {"append":[{"of":"#1"}],"turn":1}
        3 llm.replied llm -> orchestrator (2) ends 2 {"finish":"tool_calls","message":{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{\"task\":\"one\"}","name":"researcher"},"id":"t1.0","type":"function"}]},"provider_ids":{"t1.0":"call_1_0"}}
        4 tool.call orchestrator -> tool.researcher (3) {"arguments":{"task":"one"},"call_id":"t1.0","effect":"may_change","tool":"researcher"}
        5 task.start tool.researcher -> researcher/orchestrator (4) {"task":"one"}
        6 llm.chat researcher/orchestrator -> researcher/llm (5) {"append":[{"of":"#5"}],"turn":1}
        7 task.cancel user -> orchestrator (1) {}
        8 task.cancelling orchestrator -> user (7) ends 7 {}
        9 task.cancel tool.researcher -> researcher/orchestrator (5) {}
        10 task.cancelling researcher/orchestrator -> tool.researcher (9) ends 9 {}
        11 llm.failed researcher/orchestrator -> researcher/orchestrator (9) ends 6 {"kind":"cancelled","message":"the task was cancelled"}
        12 task.finished researcher/orchestrator -> tool.researcher (11) ends 5 {"outcome":"cancelled"}
        13 tool.failed tool.researcher -> orchestrator (12) ends 4 {"call_id":"t1.0","error":{"kind":"cancelled","message":"the agent stopped without an answer (cancelled)"},"shown":"ERROR: the agent stopped without an answer (cancelled)","spent":{"input_tokens":0,"llm_calls":1,"output_tokens":0,"tool_calls":0,"tool_failures":0}}
        14 task.finished orchestrator -> final (13) ends 1 {"outcome":"cancelled"}
    "##]].assert_eq(&journal(&runtime));
}

#[tokio::test(start_paused = true)]
async fn truncation_refusal_and_silence_have_their_outcomes() {
    let cut = || Step::call("get_weather", json!("{\"city\": \"北")).finish(hermes_llm::Finish::Length);
    let runtime = Runtime::for_tests();
    let run = async |steps: Vec<Step>| agent(&runtime, steps).build().unwrap().run("天气？").await.unwrap();

    let outcome = run(vec![Step::text("很长很").finish(hermes_llm::Finish::Length)]).await;
    assert_eq!((outcome.end.as_str(), outcome.truncated), ("completed", true));
    let outcome = run(vec![cut(), Step::text("ok").expect_tool_result("cut off by the output limit")]).await;
    assert_eq!(outcome.end.as_str(), "completed");
    // Cut off before its arguments had begun: it is not run on none.
    let begun = Step::call("dig", json!("")).finish(hermes_llm::Finish::Length);
    let outcome = run(vec![begun, Step::text("ok").expect_tool_result("cut off by the output limit")]).await;
    assert_eq!((outcome.end.as_str(), outcome.stats.tool_calls), ("completed", 0));
    let outcome = run(vec![cut(), cut()]).await;
    assert_eq!((outcome.end.as_str(), outcome.failure.unwrap().kind.as_str()), ("failed", "cut_off"));
    let outcome = run(vec![Step::text("no").finish(hermes_llm::Finish::ContentFilter)]).await;
    assert_eq!(outcome.end.as_str(), "refused");
    let outcome = run(vec![Step::text(""), Step::text("here")]).await;
    assert_eq!(outcome.answer.as_deref(), Some("here"));
    let outcome = run(vec![Step::text(""), Step::text(" ")]).await;
    assert_eq!((outcome.end.as_str(), outcome.failure.unwrap().kind.as_str()), ("failed", "empty_reply"));
    let outcome = run(vec![Step::text("fine").finish(hermes_llm::Finish::Unknown("eos".to_owned()))]).await;
    assert_eq!(outcome.end.as_str(), "completed");
}

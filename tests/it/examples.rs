//! Every example runs as a user runs it, offline, and leaves a lawful journal.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use expect_test::{Expect, expect};
use hermes_actors::laws::{Ending, check};

/// The example that cargo has built beside this test.
fn example(name: &str) -> PathBuf {
    let me = std::env::current_exe().unwrap();
    me.parent().and_then(Path::parent).unwrap().join("examples").join(name)
}

/// Runs it with a journal of its own; checks its exit, what it says, and what it leaves.
fn runs(name: &str, stdout: Expect, stderr: Expect) {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("trace.jsonl");
    let mut command = Command::new(example(name));
    for variable in ["LLM_BASE_URL", "LLM_API_KEY", "LLM_MODEL", "RUST_LOG"] {
        command.env_remove(variable);
    }
    let Output { status, stdout: out, stderr: err } =
        command.env("HERMES_JOURNAL", &journal).env("NO_COLOR", "1").stdin(Stdio::null()).output().unwrap();
    let (out, err) = (String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap());
    assert!(status.success(), "{name}: {err}");
    stdout.assert_eq(&out);
    // The last line of the statistics holds times.
    let timeless: Vec<&str> = err
        .lines()
        .filter(|line| line.starts_with('[') || ["Task", "LLM", "Tool"].iter().any(|s| line.starts_with(s)))
        .collect();
    stderr.assert_eq(&timeless.join("\n"));
    let text = std::fs::read_to_string(&journal).unwrap();
    assert_eq!(check(text.lines(), Ending::Whole), [], "{name}");
}

#[test]
fn weather() {
    runs(
        "weather",
        expect![[r#"
        北京今天晴，22°C，适合出门。
    "#]],
        expect![[r#"
            [00] COMMAND user -> orchestrator: 北京今天天气怎么样？可以出门吗？
            [01] COMMAND orchestrator -> llm: 北京今天天气怎么样？可以出门吗？
            [02] EVENT   llm -> orchestrator: tool_calls[get_weather(city=北京)]
            [03] COMMAND orchestrator -> tool.get_weather: {"city":"北京"}
            [04] EVENT   tool.get_weather -> orchestrator: {"city":"北京","weather":"晴，22°C，微风"}
            [05] COMMAND orchestrator -> llm: tool results: get_weather
            [06] EVENT   llm -> orchestrator: 北京今天晴，22°C，适合出门。
            [07] EVENT   orchestrator -> final: 北京今天晴，22°C，适合出门。
            Task completed in 2 iterations.
            LLM calls: 2 | Tokens in: 512 | Tokens out: 46
            Tool calls: 1 | succeeded: 1 | failed: 0"#]],
    );
}

#[test]
fn parallel() {
    runs(
        "parallel",
        expect![[r#"
        上海 25°C，比北京的 22°C 暖和 3°C。
    "#]],
        expect![[r#"
            [00] COMMAND user -> orchestrator: 北京和上海，哪个更暖和？
            [01] COMMAND orchestrator -> llm: 北京和上海，哪个更暖和？
            [02] EVENT   llm -> orchestrator: tool_calls[get_temperature(city=北京), get_temperature(city=上海)]
            [03] COMMAND orchestrator -> tool.get_temperature: {"city":"北京"} (t1.0)
            [04] COMMAND orchestrator -> tool.get_temperature: {"city":"上海"} (t1.1)
            [05] EVENT   tool.get_temperature -> orchestrator: 25 (t1.1)
            [06] EVENT   tool.get_temperature -> orchestrator: 22 (t1.0)
            [07] COMMAND orchestrator -> llm: tool results: get_temperature, get_temperature
            [08] EVENT   llm -> orchestrator: 上海 25°C，比北京的 22°C 暖和 3°C。
            [09] EVENT   orchestrator -> final: 上海 25°C，比北京的 22°C 暖和 3°C。
            Task completed in 2 iterations.
            LLM calls: 2 | Tokens in: 256 | Tokens out: 81
            Tool calls: 2 | succeeded: 2 | failed: 0"#]],
    );
}

#[test]
fn planner_executor() {
    runs(
        "planner_executor",
        expect![[r#"
        Turned around it reads “semreH 使信”; it has 9 characters and 2 words.
    "#]],
        expect![[r#"
            [00] COMMAND user -> orchestrator: Turn “信使 Hermes” around and tell me how long it is.
            [01] COMMAND orchestrator -> llm: Turn “信使 Hermes” around and tell me how long it is.
            [02] EVENT   llm -> orchestrator: tool_calls[executor(done_when=the text is reversed, instruction=Turn “信使 Hermes” around., number=1)]
            [03] COMMAND orchestrator -> tool.executor: {"done_when":"the text is reversed","instruction":"Turn “信使 Hermes” around.","number":1}
            [04] COMMAND tool.executor -> executor/orchestrator: {"done_when":"the text is reversed","instruction":"Turn “信使 Hermes” around.","number":1}
            [05] COMMAND executor/orchestrator -> executor/llm: {"done_when":"the text is reversed","instruction":"Turn “信使 Hermes” around.","number":1}
            [06] EVENT   executor/llm -> executor/orchestrator: tool_calls[reverse(text=信使 Hermes)]
            [07] COMMAND executor/orchestrator -> executor/tool.reverse: {"text":"信使 Hermes"}
            [08] EVENT   executor/tool.reverse -> executor/orchestrator: "semreH 使信"
            [09] COMMAND executor/orchestrator -> executor/llm: tool results: reverse
            [10] EVENT   executor/llm -> executor/orchestrator: semreH 使信
            [11] EVENT   executor/orchestrator -> tool.executor: semreH 使信
            [12] EVENT   tool.executor -> orchestrator: "semreH 使信"
            [13] COMMAND orchestrator -> llm: tool results: executor
            [14] EVENT   llm -> orchestrator: tool_calls[executor(done_when=there are two numbers, instruction=Count in “信使 Hermes”., number=2)]
            [15] COMMAND orchestrator -> tool.executor: {"done_when":"there are two numbers","instruction":"Count in “信使 Hermes”.","number":2}
            [16] COMMAND tool.executor -> executor#2/orchestrator: {"done_when":"there are two numbers","instruction":"Count in “信使 Hermes”.","number":2}
            [17] COMMAND executor#2/orchestrator -> executor#2/llm: {"done_when":"there are two numbers","instruction":"Count in “信使 Hermes”.","number":2}
            [18] EVENT   executor#2/llm -> executor#2/orchestrator: tool_calls[count(text=信使 Hermes)]
            [19] COMMAND executor#2/orchestrator -> executor#2/tool.count: {"text":"信使 Hermes"}
            [20] EVENT   executor#2/tool.count -> executor#2/orchestrator: "9 characters, 2 words"
            [21] COMMAND executor#2/orchestrator -> executor#2/llm: tool results: count
            [22] EVENT   executor#2/llm -> executor#2/orchestrator: 9 characters, 2 words
            [23] EVENT   executor#2/orchestrator -> tool.executor: 9 characters, 2 words
            [24] EVENT   tool.executor -> orchestrator: "9 characters, 2 words"
            [25] COMMAND orchestrator -> llm: tool results: executor
            [26] EVENT   llm -> orchestrator: Turned around it reads “semreH 使信”; it has 9 characters and 2 words.
            [27] EVENT   orchestrator -> final: Turned around it reads “semreH 使信”; it has 9 characters and 2 words.
            Task completed in 3 iterations.
            LLM calls: 7 (4 by sub-agents) | Tokens in: 1564 | Tokens out: 244
            Tool calls: 4 (2 by sub-agents) | succeeded: 4 | failed: 0"#]],
    );
}

#[test]
fn stateful_tool() {
    runs(
        "stateful_tool",
        expect![[r#"
        Your umbrella is on its way; two are left.
    "#]],
        expect![[r#"
            [00] COMMAND user -> orchestrator: One umbrella, please.
            [01] COMMAND orchestrator -> llm: One umbrella, please.
            [02] EVENT   llm -> orchestrator: tool_calls[in_stock(thing=umbrella)]
            [03] COMMAND orchestrator -> tool.in_stock: {"thing":"umbrella"}
            [04] EVENT   tool.in_stock -> orchestrator: 3
            [05] COMMAND orchestrator -> llm: tool results: in_stock
            [06] EVENT   llm -> orchestrator: tool_calls[order(thing=umbrella)]
            [07] COMMAND orchestrator -> tool.order: {"thing":"umbrella"}
            [08] EVENT   tool.order -> orchestrator: {"customer":"ana","left":2,"thing":"umbrella"}
            [09] COMMAND orchestrator -> llm: tool results: order
            [10] EVENT   llm -> orchestrator: Your umbrella is on its way; two are left.
            [11] EVENT   orchestrator -> final: Your umbrella is on its way; two are left.
            Task completed in 3 iterations.
            LLM calls: 3 | Tokens in: 707 | Tokens out: 97
            Tool calls: 2 | succeeded: 2 | failed: 0"#]],
    );
}

#[test]
fn custom_actor() {
    runs(
        "custom_actor",
        expect![[r#"
            2: Ok(Taken { left: 1 })
            2: Err(Failed(SoldOut { available: 1 }))
        "#]],
        expect![[""]],
    );
}

#[test]
fn interceptor() {
    runs(
        "interceptor",
        expect![[r#"
        I could send only 100 €.
    "#]],
        expect![[r#"
        [00] COMMAND user -> orchestrator: Send 500 € to Ana.
        [01] COMMAND orchestrator -> llm: Send 500 € to Ana.
        [02] EVENT   llm -> orchestrator: tool_calls[transfer(euros=500, to=Ana)]
        [03] COMMAND orchestrator -> tool.transfer: {"euros":500,"to":"Ana"}
        [04] EVENT   tool.transfer -> orchestrator: rejected: no more than 100 € at once
        [05] COMMAND orchestrator -> llm: tool results: transfer
        [06] EVENT   llm -> orchestrator: tool_calls[transfer(euros=100, to=Ana)]
        [07] COMMAND orchestrator -> tool.transfer: {"euros":100,"to":"Ana"}
        [08] EVENT   tool.transfer -> orchestrator: "100 € sent to Ana"
        [09] COMMAND orchestrator -> llm: tool results: transfer
        [10] EVENT   llm -> orchestrator: I could send only 100 €.
        [11] EVENT   orchestrator -> final: I could send only 100 €.
        Task completed in 3 iterations.
        LLM calls: 3 | Tokens in: 491 | Tokens out: 97
        Tool calls: 2 | succeeded: 1 | failed: 1"#]],
    );
}

#[test]
fn streaming() {
    runs(
        "streaming",
        expect![[r#"
        床前明月光，
        疑是地上霜。
        举头望明月，
        低头思故乡。
    "#]],
        expect![[r#"
        Task completed in 2 iterations.
        LLM calls: 2 | Tokens in: 170 | Tokens out: 39
        Tool calls: 1 | succeeded: 1 | failed: 0"#]],
    );
}

#[test]
fn files() {
    runs(
        "files",
        expect![[r#"
        A trip to Sofia is planned for Monday (plan.md). An umbrella is on the list (shopping.txt).
    "#]],
        expect![[r##"
            [00] COMMAND user -> orchestrator: What is in this folder?
            [01] COMMAND orchestrator -> llm: What is in this folder?
            [02] EVENT   llm -> orchestrator: tool_calls[list_directory(path=.)]
            [03] COMMAND orchestrator -> tool.list_directory: {"path":"."}
            [04] EVENT   tool.list_directory -> orchestrator: "plan.md\nshopping.txt"
            [05] COMMAND orchestrator -> llm: tool results: list_directory
            [06] EVENT   llm -> orchestrator: tool_calls[read_file(path=plan.md)]
            [07] COMMAND orchestrator -> tool.read_file: {"path":"plan.md"}
            [08] EVENT   tool.read_file -> orchestrator: "# Trip\n\nSofia on Monday, if it does not rain.\n"
            [09] COMMAND orchestrator -> llm: tool results: read_file
            [10] EVENT   llm -> orchestrator: tool_calls[read_file(path=shopping.txt)]
            [11] COMMAND orchestrator -> tool.read_file: {"path":"shopping.txt"}
            [12] EVENT   tool.read_file -> orchestrator: "两斤苹果\n一把伞\n"
            [13] COMMAND orchestrator -> llm: tool results: read_file
            [14] EVENT   llm -> orchestrator: A trip to Sofia is planned for Monday (plan.md). An umbrella is on the list (shopping.txt).
            [15] EVENT   orchestrator -> final: A trip to Sofia is planned for Monday (plan.md). An umbrella is on the list (shopping.txt).
            Task completed in 4 iterations.
            LLM calls: 4 | Tokens in: 2287 | Tokens out: 149
            Tool calls: 3 | succeeded: 3 | failed: 0"##]],
    );
}

#[test]
fn bench_agent_says_how_it_is_called() {
    let usage = "bench_agent --base URL --tasks T --conc C --turns N --k K --tool add|slow_add --lat MS \
                 [--journal PATH|memory|off]\n";
    let called = |arguments: &[&str]| {
        let Output { status, stdout, stderr } =
            Command::new(example("bench_agent")).args(arguments).output().unwrap();
        (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
    };
    assert_eq!(called(&["--help"]), (Some(0), usage.to_owned(), String::new()));
    for (arguments, fault) in [
        (&["--taks", "3"][..], "there is no argument `--taks`\n"),
        (&["--k", "3", "--tasks"], "--tasks wants a value\n"),
    ] {
        assert_eq!(called(arguments), (Some(2), String::new(), format!("{fault}{usage}")));
    }
}

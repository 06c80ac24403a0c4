//! `hermes.yaml` and `hermes config`: layers, what is wrong, and what nobody should read.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use expect_test::expect;
use serde_json::{Value, json};

use crate::support::{Ended, Place};

fn config<'a>(place: &Place, args: impl IntoIterator<Item = &'a str>) -> Ended {
    Ended::of(&mut place.hermes(["config"].into_iter().chain(args)))
}

/// One setting as `--json` shows it.
fn setting(ended: &Ended, name: &str) -> (Value, Value) {
    let shown: Value = serde_json::from_str(&ended.stdout).unwrap();
    let setting = &shown["settings"][name];
    (setting["value"].clone(), setting["source"].clone())
}

#[test]
fn without_a_file_all_is_default() {
    let ended = config(&Place::new(), []).expect(0);
    expect![[r#"
        Settings of the environment and the options; there is no hermes.yaml here.
        model.endpoint           -                                            default
        model.model_name         -                                            default
        model.api_key            -                                            default
        model.api_key_env        -                                            default
        model.headers            -                                            default
        model.query              -                                            default
        model.body               -                                            default
        model.streaming          true                                         default
        model.temperature        0                                            default
        model.max_tokens         -                                            default
        model.stop               -                                            default
        model.seed               -                                            default
        model.tool_choice        -                                            default
        context_budget_tokens    -                                            default; not in force yet
        max_iterations           8                                            default
        request_timeout_seconds  60                                           default
        task_timeout_seconds     -                                            default
        system_prompt            You are Hermes, an assistant that can read … default
        tools                    list_directory, read_file, search_files      default
        root                     .                                            default
        journal                  hermes_trace.jsonl                           default
    "#]]
    .assert_eq(&ended.stdout);
    assert_eq!(ended.stderr, "");
}

const FILE: &str = "\u{feff}# 设置
model:
  endpoint: http://localhost:1234/v1?sig=s3cret
  model_name: from-file
  api_key: sk-0123456789-s3cret-wxyz
  headers: {X-Team: s3cret, X-Proxy: Basic 0123456789 0123456789}
  body: {top_k: 40}
  temperature: 0.25
  stop: [\"\\n\\n\", 完]
context_budget_tokens: 9000
max_steps: 3
system_prompt: |
  你是助手。
  🙂
tools: [read_file]
root: root
";

#[test]
fn each_setting_is_shown_with_its_place_and_no_secret() {
    let place = Place::new();
    place.write("hermes.yaml", FILE);
    let mut command = place.hermes(["config", "--max-iterations", "5", "--stop", "END", "--seed", "-7"]);
    let ended =
        Ended::of(command.env("LLM_MODEL", "from-variable").env("HERMES_TASK_TIMEOUT_SECONDS", "1.5"));
    let ended = ended.expect(0);
    expect![[r#"
        Settings of hermes.yaml, the environment and the options; later ones win.
        model.endpoint           http://localhost:1234/v1?***                 hermes.yaml:3
        model.model_name         from-variable                                LLM_MODEL
        model.api_key            sk-…wxyz                                     hermes.yaml:5
        model.api_key_env        -                                            default
        model.headers            {"X-Proxy":"Bas…6789","X-Team":"***"}        hermes.yaml:6
        model.query              -                                            default
        model.body               {"top_k":40}                                 hermes.yaml:7
        model.streaming          true                                         default
        model.temperature        0.25                                         hermes.yaml:8
        model.max_tokens         -                                            default
        model.stop               ["END"]                                      --stop
        model.seed               -7                                           --seed
        model.tool_choice        -                                            default
        context_budget_tokens    9000                                         hermes.yaml:10; not in force yet
        max_iterations           5                                            --max-iterations
        request_timeout_seconds  60                                           default
        task_timeout_seconds     1.5                                          HERMES_TASK_TIMEOUT_SECONDS
        system_prompt            你是助手。⏎🙂⏎                               hermes.yaml:12
        tools                    read_file                                    hermes.yaml:15
        root                     root                                         hermes.yaml:16
        journal                  hermes_trace.jsonl                           default
    "#]]
    .assert_eq(&ended.stdout);
    assert_eq!((&*ended.stderr, ended.stdout.contains("s3cret")), ("", false));
}

#[test]
fn json_says_the_same() {
    let place = Place::new();
    place.write("hermes.yaml", FILE);
    let mut command = place.hermes(["config", "--json", "--temperature", "1"]);
    let ended = Ended::of(command.env("LLM_MODEL", "from-variable")).expect(0);
    assert_eq!(
        setting(&ended, "model.model_name"),
        (json!("from-variable"), json!({"kind": "variable", "name": "LLM_MODEL"}))
    );
    assert_eq!(
        setting(&ended, "model.temperature"),
        (json!(1), json!({"kind": "flag", "name": "--temperature"}))
    );
    assert_eq!(
        setting(&ended, "max_iterations"),
        (json!(3), json!({"kind": "file", "file": "hermes.yaml", "line": 11}))
    );
    assert_eq!(setting(&ended, "request_timeout_seconds"), (json!(60), json!({"kind": "default"})));
    assert_eq!(setting(&ended, "model.api_key").0, "sk-…wxyz");
    assert_eq!(setting(&ended, "model.headers").0, json!({"X-Team": "***", "X-Proxy": "Bas…6789"}));
    assert_eq!(setting(&ended, "system_prompt").0, "你是助手。\n🙂\n");
    let shown: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(shown["file"], place.path("hermes.yaml").to_str().unwrap());
    assert_eq!(shown["settings"]["context_budget_tokens"]["in_force"], false);
    assert!(!ended.stdout.contains("s3cret"));
}

#[test]
fn the_layers_win_in_their_order() {
    let place = Place::new();
    place.write("hermes.yaml", "max_iterations: 2\n");
    let of = |variable: &str, args: &[&str]| {
        let mut command = place.hermes(["config", "--json"].into_iter().chain(args.iter().copied()));
        let ended = Ended::of(command.env("HERMES_MAX_ITERATIONS", variable)).expect(0);
        setting(&ended, "max_iterations").0
    };
    assert_eq!(
        (of("", &[]), of("3", &[]), of("3", &["--max-iterations", "4"])),
        (json!(2), json!(3), json!(4))
    );
    fs::remove_file(place.path("hermes.yaml")).unwrap();
    assert_eq!(of("", &[]), 8);
}

#[test]
fn a_named_file_wins_over_the_variable_and_that_over_the_usual_one() {
    let place = Place::new();
    fs::create_dir(place.path("other")).unwrap();
    place.write("hermes.yaml", "max_iterations: 1\n");
    place.write("a.yaml", "max_iterations: 2\n");
    place.write("other/b.yaml", "max_iterations: 3\nroot: ../root\njournal: t.jsonl\n");
    let of = |args: &[&str], variable: &str| {
        let mut command = place.hermes(["config", "--json"].into_iter().chain(args.iter().copied()));
        Ended::of(command.env("HERMES_CONFIG", variable)).expect(0)
    };
    assert_eq!(setting(&of(&[], ""), "max_iterations").0, 1);
    assert_eq!(setting(&of(&[], "a.yaml"), "max_iterations").0, 2);
    let named = of(&["--config", "other/b.yaml"], "a.yaml");
    assert_eq!(setting(&named, "max_iterations").0, 3);
    // Paths count from the folder of the file on.
    assert_eq!(setting(&named, "root").0, "other/../root");
    assert_eq!(setting(&named, "journal").0, "other/t.jsonl");
    let run = ["run", "--config", "other/b.yaml", "--model", "demo", "hi"];
    Ended::of(&mut place.hermes(run)).expect(0).says("\"notes.txt\"").says("other/t.jsonl (new)");
}

#[test]
fn what_is_wrong_is_named_with_its_place_and_runs_nothing() {
    let place = Place::new();
    for (text, words) in [
        (
            "model:\n  temprature: 1\n",
            "error: hermes.yaml:2:3: there is no setting `temprature` below `model`; did you mean `temperature`? (there \
             are endpoint, model_name, api_key, api_key_env, headers, query, body, streaming, temperature, max_tokens, \
             stop, seed, tool_choice)\n",
        ),
        (
            "max_iterations: \"3\"\n",
            "error: hermes.yaml:1:17: `max_iterations`: \"3\" is not a whole number from 1 to 4294967295\n",
        ),
        (
            "max_steps: 1\nmax_iterations: 1\n",
            "error: hermes.yaml:2:1: `max_iterations` says the same setting as line 1: keep one of them\n",
        ),
        (
            "tools:\n  - read_fil\n",
            "error: hermes.yaml:2:5: `tools[0]`: \"read_fil\" is not one of list_directory, read_file, search_files; did \
             you mean `read_file`?\n",
        ),
        ("a: [\n", "error: hermes.yaml:1:4: unclosed bracket '['\n"),
    ] {
        place.write("hermes.yaml", text);
        for args in [&["config"][..], &["run", "--model", "demo", "hi"], &["tools"]] {
            let ended = Ended::of(&mut place.hermes(args.iter().copied())).expect(2);
            assert_eq!((&*ended.stdout, &*ended.stderr), ("", words), "{args:?}");
        }
    }
    assert!(!place.path("hermes_trace.jsonl").exists());
}

#[test]
fn what_is_wrong_elsewhere_is_named_too() {
    let place = Place::new();
    for (name, value, words) in [
        (
            "HERMES_MAX_ITERATIONS",
            "many",
            "the variable HERMES_MAX_ITERATIONS: \"many\" is not a whole number from 1",
        ),
        (
            "HERMES_TOOLS",
            "read_file,find",
            "the variable HERMES_TOOLS: \"find\" is not one of list_directory",
        ),
        ("HERMES_STREAMING", "yes", "the variable HERMES_STREAMING: \"yes\" is not true or false"),
        ("LLM_BASE_URL", "localhost:1", "the variable LLM_BASE_URL: `localhost:1` is no usable base URL"),
        ("HERMES_CONFIG", "nowhere.yaml", "cannot read nowhere.yaml, which HERMES_CONFIG names"),
    ] {
        let ended = Ended::of(place.hermes(["config"]).env(name, value));
        assert_eq!(ended.expect(2).says(words).stdout, "");
    }
    for (args, words) in [
        (["--temperature", "hot"], "\"hot\" is not a number from 0 to 2"),
        (["--max-tokens", "0"], "0 is not a whole number from 1"),
        (["--seed", "1.5"], "1.5 is not a whole number"),
        (["--tool-choice", "maybe"], "[possible values: auto, none, required]"),
        (["--config", "nowhere.yaml"], "cannot read nowhere.yaml, which --config names"),
        (["--config", "root"], "cannot read root"),
    ] {
        config(&place, args).expect(2).says(words);
    }
}

#[test]
fn a_file_that_is_no_text_is_named_and_an_empty_one_is_fine() {
    let place = Place::new();
    place.write("hermes.yaml", b"# caf\xc3\xa9\nsystem_prompt: caf\xe9\n");
    let ended = config(&place, []).expect(2);
    assert_eq!(ended.stderr, "error: hermes.yaml:2: this is no UTF-8 text: save the file as UTF-8\n");
    place.write("hermes.yaml", "");
    config(&place, []).expect(0);
}

#[test]
fn a_key_in_a_file_that_others_can_read_is_warned_of() {
    let place = Place::new();
    place.write("hermes.yaml", "model:\n  api_key: s3cret\n");
    assert_eq!(config(&place, []).expect(0).stderr, "");
    fs::set_permissions(place.path("hermes.yaml"), Permissions::from_mode(0o644)).unwrap();
    let ended = config(&place, []).expect(0);
    assert_eq!(
        ended.stderr,
        "warning: hermes.yaml:2 holds a key, and other users of this machine may read it: `chmod 600 hermes.yaml`, or \
         name a variable with api_key_env\n"
    );
    assert!(!ended.stdout.contains("s3cret"));
}

#[test]
fn init_writes_a_file_that_can_be_used_and_none_over_another() {
    let place = Place::new();
    let ended = config(&place, ["--init"]).expect(0);
    assert_eq!(ended.stdout, "Wrote hermes.yaml; `hermes config` shows what is in force.\n");
    let written = fs::read_to_string(place.path("hermes.yaml")).unwrap();
    assert_eq!(fs::metadata(place.path("hermes.yaml")).unwrap().permissions().mode() & 0o777, 0o600);
    let shown = config(&place, ["--json"]).expect(0);
    assert_eq!(setting(&shown, "model.model_name").0, "qwen2.5:7b");
    config(&place, ["--init"]).expect(2).says("hermes.yaml is there already");
    assert_eq!(fs::read_to_string(place.path("hermes.yaml")).unwrap(), written);
}

#[test]
fn init_writes_where_settings_are_looked_for() {
    let place = Place::new();
    let of = |args: &[&str]| {
        let mut command = place.hermes(["config"].into_iter().chain(args.iter().copied()));
        Ended::of(command.env("HERMES_CONFIG", "by variable.yaml"))
    };
    of(&[])
        .expect(2)
        .says("cannot read by variable.yaml, which HERMES_CONFIG names (`hermes config --init` makes one)");
    of(&["--config", "it's.yaml"])
        .expect(2)
        .says(r"(`hermes config --init --config 'it'\''s.yaml'` makes one)");
    let words = "Wrote by variable.yaml; `hermes config` shows what is in force.\n";
    assert_eq!(of(&["--init"]).expect(0).stdout, words);
    assert!(of(&[]).expect(0).stdout.starts_with("Settings of by variable.yaml, "));
    let words = "Wrote b.yaml; `hermes config --config b.yaml` shows what is in force.\n";
    assert_eq!(of(&["--init", "--config", "b.yaml"]).expect(0).stdout, words);
    assert!(of(&["--config", "b.yaml"]).expect(0).stdout.starts_with("Settings of b.yaml, "));
    of(&["--init"]).expect(2).says("by variable.yaml is there already");
    assert!(!place.path("hermes.yaml").exists());
}

#[test]
fn a_variable_that_nobody_reads_is_warned_of_once() {
    let place = Place::new();
    for args in [&["config"][..], &["tools"], &["run", "--root", "root", "--quiet", "--model", "demo", "hi"]]
    {
        let mut command = place.hermes(args.iter().copied());
        command.env("HERMES_MAX_ITERATION", "3").env("HERMES_EMPTY", "").env("HERMES_MODE", "fast");
        let ended = Ended::of(command.env("HERMES_CONFIG", "")).expect(0);
        let warnings: Vec<_> = ended.stderr.lines().filter(|line| line.starts_with("warning: ")).collect();
        assert_eq!(warnings.len(), 2, "{ended:#?}");
        let words = "warning: the variable HERMES_MAX_ITERATION is no setting and changes nothing; did you mean \
                     `HERMES_MAX_ITERATIONS`?";
        assert_eq!(warnings[0], words);
        assert!(
            warnings[1].contains("HERMES_MODE") && warnings[1].contains("(there are HERMES_CONFIG, "),
            "{ended:#?}"
        );
    }
    // The key may stand in any variable.
    place.write("hermes.yaml", "model:\n  api_key_env: HERMES_TEAM_KEY\n");
    assert_eq!(Ended::of(place.hermes(["config"]).env("HERMES_TEAM_KEY", "k")).expect(0).stderr, "");
}

//! Confinement: no path leads out of the root, and nothing in it hangs a call.

use serde_json::json;

use super::*;

#[tokio::test]
async fn an_absolute_path_below_the_root_is_taken_as_relative() {
    let folder = folder(&[("a/b.txt", "x")]);
    let inside = folder.path().join("a/b.txt");
    assert_eq!(read(&folder, inside.to_str().unwrap()).await, "OK: x");
    assert_eq!(list(&folder, folder.path().to_str().unwrap()).await, "OK: a/");
}

#[tokio::test]
async fn no_path_leads_out_of_the_root() {
    let outside = folder(&[("secret.txt", "secret")]);
    let folder = folder(&[("a.txt", "x")]);
    let outside = outside.path().to_str().unwrap().to_owned();
    let by_own_name = format!("{}/../..", folder.path().display());
    let absolute = format!("{outside}/secret.txt");
    for path in ["..", "../..", "a/../../b", "/", "/etc/passwd", &absolute, &by_own_name] {
        for name in ["list_directory", "read_file"] {
            let answer = call(folder.path(), name, json!({"path": path})).await;
            assert!(answer.starts_with("ERROR: "), "{path}: {answer}");
        }
        let answer = search(&folder, json!({"name": "secret", "path": path})).await;
        assert!(answer.starts_with("ERROR: "), "{path}: {answer}");
    }
    assert_eq!(
        read(&folder, "/etc/passwd").await,
        "ERROR: `/etc/passwd`: that path is outside of the folder I may read"
    );
}

#[cfg(unix)]
mod on_unix {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::process::Command;

    #[tokio::test]
    async fn a_link_out_of_the_root_is_seen_but_not_followed() {
        let outside = folder(&[("secret.txt", "secret")]);
        let folder = folder(&[("in/a.txt", "not secret")]);
        symlink(outside.path(), folder.path().join("out")).unwrap();
        symlink(outside.path().join("secret.txt"), folder.path().join("secret link")).unwrap();
        symlink("in", folder.path().join("inner")).unwrap();
        symlink(".", folder.path().join("loop")).unwrap();

        assert_eq!(list(&folder, "").await, "OK: in/\ninner/\nloop/\nout\nsecret link");
        assert_eq!(list(&folder, "inner").await, "OK: a.txt");
        for path in ["out/secret.txt", "secret link", "in/../out/secret.txt"] {
            assert_eq!(
                read(&folder, path).await,
                format!("ERROR: `{path}`: that path is outside of the folder I may read")
            );
        }
        assert!(list(&folder, "out").await.ends_with("outside of the folder I may read"));
        assert_eq!(search(&folder, json!({"text": "secret"})).await, "OK: in/a.txt:1: not secret");
        assert_eq!(search(&folder, json!({"name": "secret"})).await, "OK: secret link");
    }

    #[tokio::test]
    async fn no_link_leads_to_a_hidden_journal() {
        let folder = folder(&[("log/t.jsonl", "x"), ("log/t.jsonl.blobs/12ab", "x")]);
        for (target, link) in [("log", "in"), ("log/t.jsonl", "link"), ("log/t.jsonl.blobs", "blobs")] {
            symlink(target, folder.path().join(link)).unwrap();
        }
        let made = Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap();
        assert!(made.success());
        // The journal was opened by a link, and is known by its own name too.
        let files = Files::below(folder.path()).unwrap().hiding(folder.path().join("link"));
        for path in ["in/t.jsonl", "in/t.jsonl.blobs/12ab", "link", "blobs/12ab"] {
            let answer = call_of(&files, "read_file", json!({"path": path})).await;
            assert!(answer.starts_with("ERROR: there is nothing at `"), "{path}: {answer}");
        }
        assert_eq!(
            call_of(&files, "list_directory", json!({"path": "in"})).await,
            "OK: The folder is empty."
        );
        assert_eq!(call_of(&files, "list_directory", json!({})).await, "OK: blobs\nin/\nlog/\npipe");
        let searched = call_of(&files, "search_files", json!({"text": "x"})).await;
        assert!(searched.ends_with("Nothing found."), "{searched}");
    }

    #[tokio::test]
    async fn a_file_that_holds_less_than_its_size_says_has_an_end() {
        // sysfs gives every file the size of a page.
        let Ok(files) = Files::below("/sys/kernel") else { return };
        if !Path::new("/sys/kernel/mm/transparent_hugepage/enabled").exists() {
            return;
        }
        let arguments = json!({"path": "mm/transparent_hugepage/enabled"});
        let answer = call_of(&files, "read_file", arguments).await;
        assert!(answer.starts_with("OK: ") && !answer.contains("read on"), "{answer}");
    }

    #[tokio::test]
    async fn a_pipe_is_refused_at_once() {
        let folder = folder(&[("a.txt", "x")]);
        let made = Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap();
        assert!(made.success());
        assert_eq!(
            read(&folder, "pipe").await,
            "ERROR: `pipe` is not a file with a text in it, but a pipe, device or socket"
        );
        assert!(search(&folder, json!({"text": "x"})).await.ends_with("a.txt:1: x"));
    }

    #[tokio::test]
    async fn a_device_is_refused() {
        let tools = Files::below("/dev").unwrap().tools();
        let Value::Object(arguments) = json!({"path": "zero"}) else { unreachable!() };
        let error: ToolError = tools[1].call(arguments, ToolContext::new("t1.0")).await.unwrap_err();
        assert_eq!(error.message(), "`zero` is not a file with a text in it, but a pipe, device or socket");
    }

    #[tokio::test]
    async fn a_name_that_would_break_the_line_is_written_as_json() {
        let folder = folder(&[("a\nb", "x")]);
        assert_eq!(list(&folder, "").await, r#"OK: "a\nb""#);
        assert_eq!(search(&folder, json!({"text": "x"})).await, r#"OK: "a\nb":1: x"#);
        assert_eq!(read(&folder, "a\nb").await, "OK: x");
    }
}

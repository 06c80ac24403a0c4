//! A folder with files to read, the program in it, and what it said.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use crate::server::Server;

/// Whether a variable changes what the program does.
fn is_ours(name: &str) -> bool {
    name.starts_with("LLM_")
        || name.starts_with("HERMES_")
        || ["RUST_LOG", "NO_COLOR", "CLICOLOR_FORCE"].contains(&name)
}

/// A working directory with a folder `root` in it.
pub struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("root")).unwrap();
        std::fs::write(folder.path().join("root/notes.txt"), "北京 notes\n").unwrap();
        Self { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// The program in this folder, with nothing set.
    pub fn hermes<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hermes"));
        for (name, _) in std::env::vars().filter(|(name, _)| is_ours(name)) {
            command.env_remove(name);
        }
        command.current_dir(self.folder.path()).args(args).stdin(Stdio::null());
        command
    }

    /// Writes a file of settings, readable by its owner only.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(self.path(name))
            .unwrap();
        file.write_all(text.as_ref()).unwrap();
    }

    /// `hermes run --root root`, with more arguments.
    pub fn run<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Command {
        self.hermes(["run", "--root", "root"].into_iter().chain(args))
    }

    /// As [`Place::run`], against a server.
    pub fn ask<'a>(&self, server: &Server, args: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = self.run(args);
        command.env("LLM_BASE_URL", &server.url).env("LLM_MODEL", "fake");
        command
    }

    /// The text of the journal, which must be lawful.
    pub fn lawful(&self, journal: &str) -> String {
        let ended = Ended::of(&mut self.hermes(["trace", "verify", journal]));
        assert_eq!((ended.code, &*ended.stderr), (0, ""), "{}", ended.stdout);
        assert!(ended.stdout.ends_with("laws 1 to 10 hold\n"), "{}", ended.stdout);
        std::fs::read_to_string(self.path(journal)).unwrap()
    }
}

/// A program that has ended.
#[derive(Debug)]
pub struct Ended {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    /// Runs it to its end.
    pub fn of(command: &mut Command) -> Self {
        command.output().unwrap().into()
    }

    /// Waits for its end.
    pub fn of_child(child: Child) -> Self {
        child.wait_with_output().unwrap().into()
    }

    /// Asserts how it ended, and shows all that it said if not.
    #[track_caller]
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:#?}");
        assert!(!self.stderr.contains("panicked"), "{self:#?}");
        self
    }

    /// Asserts that it said this on stderr.
    #[track_caller]
    pub fn says(self, words: &str) -> Self {
        assert!(self.stderr.contains(words), "{words:?} is not in {self:#?}");
        self
    }
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        // No code: a signal killed it.
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Starts it with all its streams in our hands.
pub fn start(command: &mut Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Gives it all its input.
pub fn feed(child: &mut Child, bytes: &[u8]) {
    child.stdin.take().unwrap().write_all(bytes).unwrap();
}

/// Sends it a signal, such as `INT`.
pub fn signal(child: &Child, name: &str) {
    let sent = Command::new("sh").args(["-c", &format!("kill -{name} {}", child.id())]).status().unwrap();
    assert!(sent.success());
}

pub fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../hermes-bus/tests/samples").join(name)
}

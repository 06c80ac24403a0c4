//! This test binary run again as another process: to be killed, to hold a journal, to be looked at from outside.

use std::process::{Command, Stdio};

/// A command that runs only the test with this path, which finds its order in the environment variable `order`.
pub fn running(test: &str, order: &str, value: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(order, value);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

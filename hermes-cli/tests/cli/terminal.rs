//! The program on a terminal: `script` (util-linux) lends one.
#![cfg(target_os = "linux")]

use std::io::{Read, Write};
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::server::{Answer, Server};
use crate::support::{Ended, Place, start};

/// `hermes` in this place, its three streams one terminal; what it writes comes out of stdout.
fn on_terminal(place: &Place, words: &str) -> Command {
    let plain = place.hermes([]);
    let mut command = Command::new("script");
    let program = plain.get_program().to_str().unwrap();
    command.args([
        "--quiet",
        "--return",
        "--command",
        &format!("stty -echo; exec {program} {words}"),
        "/dev/null",
    ]);
    command.current_dir(plain.get_current_dir().unwrap()).env("TERM", "xterm");
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

/// What a program writes, as it writes it.
struct Written {
    pieces: Receiver<Vec<u8>>,
    text: String,
    /// How much of it was waited for.
    read: usize,
}

impl Written {
    fn by(child: &mut Child) -> Self {
        let mut stdout = child.stdout.take().unwrap();
        let (tell, pieces) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = stdout.read(&mut buffer) {
                if tell.send(buffer[..length].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { pieces, text: String::new(), read: 0 }
    }

    /// Waits until this was written after what was waited for before.
    #[track_caller]
    fn until(&mut self, words: &str) {
        loop {
            if let Some(at) = self.text[self.read..].find(words) {
                self.read += at + words.len();
                return;
            }
            match self.pieces.recv_timeout(Duration::from_secs(60)) {
                Ok(piece) => self.text += &String::from_utf8_lossy(&piece),
                Err(_) => panic!("{words:?} did not come: {:?}", self.text),
            }
        }
    }
}

/// Presses keys.
fn type_in(child: &mut Child, keys: &str) {
    child.stdin.as_mut().unwrap().write_all(keys.as_bytes()).unwrap();
}

#[test]
fn an_answer_is_written_as_it_comes_and_only_once() {
    let place = Place::new();
    let server = Server::start(Answer::stream(&["晴，", "22°C。"]));
    let mut command = on_terminal(&place, "run --quiet --root root hi");
    let mut child = start(command.env("LLM_BASE_URL", &server.url).env("LLM_MODEL", "fake"));
    let mut written = Written::by(&mut child);
    written.until("晴，");
    assert!(!written.text.contains("22"), "{:?}", written.text);
    server.go_on();
    written.until("22°C。\r\n");
    Ended::of_child(child).expect(0);
    written.text.extend(written.pieces.iter().map(|piece| String::from_utf8(piece).unwrap()));
    assert_eq!(written.text.matches("晴，22°C。").count(), 1, "{:?}", written.text);
}

#[test]
fn a_flow_has_colours_on_a_terminal_unless_they_are_unwanted() {
    let place = Place::new();
    let words = "run --model demo --journal memory --root root hi";
    let coloured = Ended::of(on_terminal(&place, words).env("NO_COLOR", "")).expect(0);
    assert!(coloured.stdout.contains("[00] \x1b[36mCOMMAND\x1b[0m user"), "{coloured:?}");
    let plain = Ended::of(on_terminal(&place, words).env("NO_COLOR", "1")).expect(0);
    assert!(plain.stdout.contains("[00] COMMAND user") && !plain.stdout.contains("\x1b["), "{plain:?}");
}

#[test]
fn what_is_waited_for_stands_on_a_line_that_vanishes() {
    let (place, server) = (Place::new(), Server::start(Answer::Silence));
    let mut command = on_terminal(&place, "run --quiet --root root hi");
    let mut child = start(command.env("LLM_BASE_URL", &server.url).env("LLM_MODEL", "fake"));
    let mut written = Written::by(&mut child);
    written.until("… the model is thinking (");
    type_in(&mut child, "\x03");
    written.until("\r\x1b[2K");
    written.until("Task ended (cancelled)");
    Ended::of_child(child).expect(130);
}

#[test]
fn a_chat_edits_lines_and_ends_with_ctrl_d() {
    let place = Place::new();
    let mut child = start(&mut on_terminal(&place, "chat --model demo --root root"));
    let mut written = Written::by(&mut child);
    written.until("Talking to demo. /help tells the commands, Ctrl-D ends.");
    written.until("> ");
    // A slip taken back; a line that Ctrl-C clears; the message before, by the key Up.
    type_in(&mut child, "你好x\x7f\r");
    written.until("(demo) The folder was really listed");
    written.until("> ");
    type_in(&mut child, "nonsense\x03");
    written.until("(once more, or Ctrl-D, ends the chat)");
    written.until("> ");
    type_in(&mut child, "\x1b[A\r");
    written.until("(demo) Before this you said: 你好\r\n");
    written.until("> ");
    type_in(&mut child, "\x04");
    Ended::of_child(child).expect(0);
    place.lawful("hermes_trace.jsonl");
}

#[test]
fn ctrl_c_cancels_what_runs_and_the_chat_goes_on() {
    let place = Place::new();
    let server = Server::answering([Answer::Silence, Answer::text("好。")]);
    let mut command = on_terminal(&place, "chat --root root");
    let mut child = start(command.env("LLM_BASE_URL", &server.url).env("LLM_MODEL", "fake"));
    let mut written = Written::by(&mut child);
    written.until("> ");
    type_in(&mut child, "one\r");
    server.request();
    type_in(&mut child, "\x03");
    written.until("Task ended (cancelled)");
    written.until("> ");
    type_in(&mut child, "two\r");
    written.until("好。");
    written.until("> ");
    type_in(&mut child, "/quit\r");
    Ended::of_child(child).expect(0);
    assert_eq!(place.lawful("hermes_trace.jsonl").matches("\"outcome\":\"cancelled\"").count(), 1);
}

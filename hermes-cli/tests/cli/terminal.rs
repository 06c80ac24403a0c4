//! The program on a terminal: `script` (util-linux) lends one.
#![cfg(target_os = "linux")]

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use crate::server::{Answer, Server};
use crate::support::{Ended, Place, start};

/// `hermes` in this place, its three streams one terminal; what it writes comes out of stdout.
fn on_terminal(place: &Place, words: &str) -> Command {
    shell_on_terminal(place, &format!("exec hermes {words}"))
}

/// A shell on a terminal in this place, which finds `hermes`.
fn shell_on_terminal(place: &Place, line: &str) -> Command {
    let plain = place.hermes([]);
    let folder = Path::new(plain.get_program()).parent().unwrap().to_str().unwrap();
    let mut command = Command::new("script");
    let line = format!("stty -echo; PATH={folder}:$PATH; {line}");
    command.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
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
fn an_answer_on_the_screen_is_not_in_the_flow_too() {
    let place = Place::new();
    let words = "run --model demo --journal memory --root root hi";
    let ended = Ended::of(on_terminal(&place, words).env("NO_COLOR", "1")).expect(0);
    assert_eq!(ended.stdout.matches("this answer is scripted").count(), 1, "{ended:#?}");
    assert!(ended.stdout.contains("[06] EVENT   llm -> orchestrator: (the answer)\r\n"), "{ended:#?}");
    assert!(ended.stdout.contains("[07] EVENT   orchestrator -> final: (the answer)\r\n"), "{ended:#?}");
    let words = format!("run --root root --model m --base-url {} hi", Server::nowhere());
    let ended = Ended::of(on_terminal(&place, &words).env("NO_COLOR", "1")).expect(4);
    assert_eq!(ended.stdout.matches("cannot reach the model server").count(), 1, "{ended:#?}");
    let words = "run --model demo --journal memory --root root hi";
    let piped = Ended::of(on_terminal(&place, &format!("{words} | cat")).env("NO_COLOR", "1")).expect(0);
    assert_eq!(piped.stdout.matches("this answer is scripted").count(), 3, "{piped:#?}");
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
    written.until("(demo) The tool list_directory really ran");
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
fn lines_that_come_in_one_write_are_all_messages() {
    let place = Place::new();
    let mut child = start(&mut on_terminal(&place, "chat --model demo --root root"));
    let mut written = Written::by(&mut child);
    written.until("> ");
    type_in(&mut child, "你好\rWhat did I say?\r/trace\r");
    written.until("(demo) Before this you said: 你好\r\n");
    written.until(" What did I say?\r\nJournal: ");
    written.until("> ");
    type_in(&mut child, "/quit\r");
    Ended::of_child(child).expect(0);
    assert_eq!(place.lawful("hermes_trace.jsonl").matches("\"name\":\"task.finished\"").count(), 2);
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

#[test]
fn ctrl_d_while_a_task_runs_ends_the_chat_after_it() {
    let place = Place::new();
    let server = Server::start(Answer::stream(&["晴，", "22°C。"]));
    let mut command = shell_on_terminal(&place, "stty echo; exec hermes chat --root root");
    let mut child = start(command.env("LLM_BASE_URL", &server.url).env("LLM_MODEL", "fake"));
    let mut written = Written::by(&mut child);
    written.until("> ");
    type_in(&mut child, "hi\r");
    written.until("晴，");
    // The echo of the key after it says that it has arrived.
    type_in(&mut child, "\x04x");
    written.until("x");
    server.go_on();
    written.until("22°C。\r\n");
    Ended::of_child(child).expect(0);
}

#[test]
fn sigterm_at_the_prompt_gives_the_terminal_back() {
    let place = Place::new();
    let line = "stty -g >before; sh -c 'echo $$ >id; exec hermes chat --model demo --root root'; echo $? >code; \
                stty -g >after";
    let mut child = start(&mut shell_on_terminal(&place, line));
    let mut written = Written::by(&mut child);
    written.until("\x1b[?2004h");
    written.until("> ");
    let file = |name| std::fs::read_to_string(place.path(name)).unwrap();
    let killed = Command::new("kill").args(["-TERM", file("id").trim()]).status().unwrap();
    assert!(killed.success());
    written.until("\x1b[?2004l\r\n");
    Ended::of_child(child).expect(0);
    assert_eq!((file("code"), file("after")), ("130\n".to_owned(), file("before")));
}

/// What will be written to a pipe of this name, once it is.
fn named_pipe(place: &Place, name: &str) -> Receiver<String> {
    let path = place.path(name);
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    let (tell, text) = channel();
    std::thread::spawn(move || tell.send(std::fs::read_to_string(path).unwrap()));
    text
}

#[test]
fn a_terminal_that_takes_no_bytes_for_long_loses_none() {
    let (lines, line) = (300, "晴".repeat(400) + "\n");
    let (place, server) = (Place::new(), Server::start(Answer::stream(&vec![&*line; lines])));
    (1..lines).for_each(|_| server.go_on());
    let code = named_pipe(&place, "code");
    let mut command = shell_on_terminal(&place, "hermes run --quiet --root root hi; echo $? >code");
    let mut child = start(command.env("LLM_BASE_URL", &server.url).env("LLM_MODEL", "fake"));
    server.request();
    // Three times it is patient with stderr, for one second each.
    assert_eq!(code.recv_timeout(Duration::from_secs(5)), Err(RecvTimeoutError::Timeout));
    let written = Written::by(&mut child);
    assert_eq!(code.recv().unwrap(), "0\n");
    Ended::of_child(child).expect(0);
    let bytes: Vec<u8> = written.pieces.iter().flatten().collect();
    assert_eq!(String::from_utf8(bytes).unwrap().matches('晴').count(), lines * 400);
}

#[test]
fn a_terminal_that_goes_away_before_all_is_written_is_1() {
    let place = Place::new();
    let server = Server::start(Answer::stream(&["晴，", "22°C。"]));
    let code = named_pipe(&place, "code");
    let mut command =
        shell_on_terminal(&place, "trap '' HUP; hermes run --quiet --root root hi; echo $? >code");
    let mut child = start(command.env("LLM_BASE_URL", &server.url).env("LLM_MODEL", "fake"));
    Written::by(&mut child).until("晴，");
    child.kill().unwrap();
    child.wait().unwrap();
    server.go_on();
    assert_eq!(code.recv().unwrap(), "1\n");
    assert!(place.lawful("hermes_trace.jsonl").contains("22°C。"));
}

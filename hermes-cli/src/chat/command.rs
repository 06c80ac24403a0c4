//! What an entered text means: a message, or a command that begins with a slash.

use std::fmt::Write;
use std::path::PathBuf;

use crate::guess;

/// What was meant.
#[derive(Debug, PartialEq, Eq)]
pub enum Meant {
    Nothing,
    Message(String),
    Command(Command),
    /// No such command, or not as it must be; in words.
    Wrong(String),
}

/// What to do beside talking.
#[derive(Debug, PartialEq, Eq)]
pub enum Command {
    Help,
    Tools,
    Stats,
    Trace,
    Reset,
    System(String),
    Save(PathBuf),
    Quit,
}

/// A name, what stands after it, and what it does.
const COMMANDS: [(&str, &str, &str); 8] = [
    ("/help", "", "tells these commands"),
    ("/tools", "", "lists the tools of the agent"),
    ("/stats", "", "tells what the last message and the whole chat used"),
    ("/trace", "", "tells the trace of each message, and the journal that holds them"),
    ("/reset", "", "forgets what was said so far"),
    ("/system", "TEXT", "tells the model this before all else, and forgets what was said so far"),
    ("/save", "FILE", "writes what was said so far into a new file"),
    ("/quit", "", "ends the chat, as Ctrl-D does"),
];

/// What the text means. Two slashes stand for one that begins a message.
pub fn read(text: &str) -> Meant {
    let text = text.trim();
    if text.is_empty() {
        return Meant::Nothing;
    }
    match text.strip_prefix('/') {
        None => Meant::Message(text.to_owned()),
        Some(message) if message.starts_with('/') => Meant::Message(message.to_owned()),
        Some(_) => command(text),
    }
}

fn command(text: &str) -> Meant {
    let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rest = rest.trim();
    let Some((name, argument, _)) = COMMANDS.iter().find(|(other, ..)| *other == name) else {
        let meant = guess::meant(name, COMMANDS.iter().map(|(name, ..)| *name));
        return Meant::Wrong(format!(
            "there is no command {name}{meant} (/help tells them; a message may begin with //)"
        ));
    };
    if argument.is_empty() != rest.is_empty() {
        let form = format!("{name} {argument}");
        return Meant::Wrong(format!("write it as {}", form.trim_end()));
    }
    Meant::Command(match *name {
        "/tools" => Command::Tools,
        "/stats" => Command::Stats,
        "/trace" => Command::Trace,
        "/reset" => Command::Reset,
        "/system" => Command::System(rest.to_owned()),
        "/save" => Command::Save(rest.into()),
        "/quit" => Command::Quit,
        _ => Command::Help,
    })
}

/// All commands, and what else can be entered.
pub fn help() -> String {
    let mut help = String::new();
    for (name, argument, words) in COMMANDS {
        // Writing to a string does not fail.
        let _ = writeln!(help, "{:<13} {words}", format!("{name} {argument}"));
    }
    help + "\
A line that ends with \\ goes on in the next; pasted lines stay together; a message may begin with //.
Ctrl-C cancels what is running, or clears the line; twice at an empty line, or Ctrl-D, ends the chat."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slash_makes_a_command_and_two_make_a_message() {
        for (text, meant) in [
            (" \n", Meant::Nothing),
            (" 你好\n/help ", Meant::Message("你好\n/help".into())),
            ("//etc/hosts?", Meant::Message("/etc/hosts?".into())),
            ("/stats ", Meant::Command(Command::Stats)),
            ("/system  Be\nterse. ", Meant::Command(Command::System("Be\nterse.".into()))),
            ("/save a b.md", Meant::Command(Command::Save("a b.md".into()))),
            ("/save", Meant::Wrong("write it as /save FILE".into())),
            ("/quit now", Meant::Wrong("write it as /quit".into())),
        ] {
            assert_eq!(read(text), meant, "{text:?}");
        }
        let wrong = read("/stat");
        assert!(
            matches!(&wrong, Meant::Wrong(words) if words.contains("did you mean `/stats`?")),
            "{wrong:?}"
        );
    }

    #[test]
    fn help_names_every_command_and_each_can_be_read() {
        for (name, argument, words) in COMMANDS {
            assert!(help().contains(words));
            assert!(matches!(read(&format!("{name} {argument}")), Meant::Command(_)), "{name}");
        }
    }
}

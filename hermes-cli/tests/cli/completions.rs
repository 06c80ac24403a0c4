//! Completions for shells.

use crate::support::{Ended, Place};

#[test]
fn each_shell_gets_a_script_that_knows_our_words() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ended = Ended::of(&mut place.hermes(["completions", shell])).expect(0);
        for word in ["verify", "max-iterations", "tool-choice", "completions"] {
            assert!(ended.stdout.contains(word), "{shell}: {word}");
        }
    }
    Ended::of(&mut place.hermes(["completions", "tcsh"])).expect(2).says("[possible values: bash, ");
}

#[test]
fn bash_can_read_its_script() {
    let place = Place::new();
    let script = Ended::of(&mut place.hermes(["completions", "bash"])).expect(0).stdout;
    place.write("script", script);
    let mut bash = std::process::Command::new("bash");
    bash.args(["--norc", "-c", "source \"$0\" && complete -p hermes"]).arg(place.path("script"));
    let ended = Ended::of(&mut bash).expect(0);
    assert!(ended.stdout.contains("_hermes"), "{ended:#?}");
}

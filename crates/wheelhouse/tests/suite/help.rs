//! Help is what most people read.

use crate::harness::{Home, assert_said};

#[test]
fn the_front_page() {
    let home = Home::new();
    let said = home.run(&["--help"]);
    assert_said!("help", said, home.path());
    assert_eq!(home.run(&["help"]).stdout, said.stdout);
}

#[test]
fn every_command_explains_itself() {
    let home = Home::new();
    let commands: &[&[&str]] = &[
        &["serve"],
        &["mcp"],
        &["mcp", "install"],
        &["user"],
        &["user", "create"],
        &["key"],
        &["key", "create"],
        &["repo"],
        &["board"],
        &["session"],
        &["audit"],
        &["cost"],
        &["config"],
        &["doctor"],
        &["backup"],
        &["tool"],
        &["completions"],
        &["login"],
        &["version"],
        &["ls"],
        &["run"],
        &["demo"],
        &["diff"],
        &["attach"],
        &["show"],
        &["send"],
        &["wait"],
        &["logs"],
        &["turns"],
        &["approvals"],
        &["approve"],
        &["deny"],
        &["answer"],
        &["interrupt"],
        &["stop"],
        &["resume"],
        &["rm"],
    ];
    for command in commands {
        let said = home.run(&[command, &["--help"][..]].concat());
        assert_eq!(said.code, 0, "{command:?}");
        assert!(said.stdout.contains("Usage: wheelhouse"), "{said:?}");
        let about = said.stdout.lines().next().unwrap();
        assert!(
            about.len() > 10 && !about.starts_with("Usage"),
            "{command:?}: {about}"
        );
    }
}

#[test]
fn commands_for_sessions_have_examples() {
    let home = Home::new();
    for command in [
        "run", "attach", "send", "wait", "logs", "approve", "deny", "answer", "stop", "rm",
    ] {
        let said = home.run(&[command, "--help"]);
        let example = format!("  wheelhouse {command} ");
        assert!(said.stdout.contains(&example), "{command}: {said:?}");
    }
}

#[test]
fn nothing_to_do_is_wrong_usage() {
    let home = Home::new();
    assert_eq!(home.run(&[]).code, 2);
    assert_eq!(home.run(&["board"]).code, 2);
    assert_eq!(home.run(&["nonsense"]).code, 2);
    assert_eq!(
        home.run(&["key", "create", "--scope", "root", "--name", "x"])
            .code,
        2
    );
}

#[test]
fn completions_are_made_for_every_shell() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let said = home.run(&["completions", shell]);
        for command in [
            "doctor", "run", "demo", "attach", "approve", "logs", "resume",
        ] {
            let is_there = said.stdout.contains(command);
            assert!(said.code == 0 && is_there, "{shell}: {command}");
        }
    }
}

#[test]
fn versions_are_told() {
    let home = Home::new();
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        home.run(&["--version"]).stdout,
        format!("wheelhouse {version}\n")
    );
    assert_eq!(home.run(&["version", "--json"]).json()["version"], version);
}

//! Advice names only what this program has: commands, their flags, and nothing of another surface.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use clap::error::ErrorKind;
use wh_app::samples::{callers, errors_for, has_call_syntax, operations_in};
use wh_domain::{Advice, ArgumentValue};

use super::*;
use crate::cli::Cli;

#[test]
fn advice_becomes_commands_and_flags() {
    use ArgumentValue::{Flag, Text};
    const ID: ArgumentValue = ArgumentValue::ID;
    for (advice, expected) in [
        (
            Advice::note("an id can be shortened"),
            "an id can be shortened",
        ),
        (
            Advice::call(Operation::RepoList, "list the repositories"),
            "to list the repositories, run `wheelhouse repo list`",
        ),
        (
            Advice::call_with(
                Operation::SessionManage,
                [("session", ID), ("action", Text("restore"))],
                "restore it",
            ),
            "to restore it, run `wheelhouse session restore ID`",
        ),
        (
            Advice::call_with(Operation::MessageGet, [("message", ID)], "read it"),
            r#"to read it, run `wheelhouse tool call message_get '{"message":"<ID>"}'`"#,
        ),
        (
            Advice::set("force", Flag(true), "delete it anyway"),
            "to delete it anyway, add `--force`",
        ),
        (
            Advice::set(
                "list",
                ArgumentValue::Placeholder("NAME"),
                "use a list of your own",
            ),
            "to use a list of your own, add `--list NAME`",
        ),
        (
            Advice::omit("zone", "start it without a zone"),
            "to start it without a zone, leave out `--zone`",
        ),
        (
            Advice::set("when_busy", Text("queue"), "queue the prompt"),
            "to queue the prompt, leave out `--steer` and `--reject`",
        ),
        (
            Advice::command("login", "create a new login link"),
            "to create a new login link, run `wheelhouse login`",
        ),
    ] {
        assert_eq!(rendered(&AdviceView::from(&advice)), expected);
    }
}

#[test]
fn every_command_and_flag_in_the_tables_exists() {
    for (operation, _, command) in COMMANDS {
        let command = format!("wheelhouse {command}");
        check(&command).unwrap_or_else(|why| panic!("{}: {command}: {why}", operation.name()));
    }
    let mut flags = HashSet::new();
    flags_of(&Cli::command(), &mut flags);
    for (_, flag) in FLAGS.iter().chain(&[("", "--steer"), ("", "--reject")]) {
        assert!(flags.contains(flag.trim_start_matches("--")), "{flag}");
    }
}

/// Collects the flags of a command and of those below it.
fn flags_of(command: &clap::Command, flags: &mut HashSet<String>) {
    let long = command.get_arguments().filter_map(clap::Arg::get_long);
    flags.extend(long.map(str::to_owned));
    for below in command.get_subcommands() {
        flags_of(below, flags);
    }
}

#[test]
fn every_reason_is_rendered_in_commands_alone() {
    let (mut rendered, mut commands) = (0, 0);
    for caller in callers() {
        for error in errors_for(&caller) {
            let view = ErrorView {
                code: error.code().as_str().to_owned(),
                message: error.to_string(),
                hint: None,
                advice: error.hint.iter().map(AdviceView::from).collect(),
                details: error.details,
            };
            let hint = hint_of(&view).unwrap_or_default();
            rendered += 1;
            // What is quoted is checked as a command or a flag; a call of a tool has the tool's name and JSON in it.
            let said = format!("{}; {hint}", view.message);
            let outside: Vec<_> = said.split('`').step_by(2).collect();
            for text in outside {
                let is_foreign = has_call_syntax(text) || !operations_in(text).is_empty();
                assert!(!is_foreign, "{said}");
            }
            commands += check_all(Path::new("advice"), &said);
        }
    }
    println!("{rendered} errors name {commands} commands");
    assert!(commands > 1000, "{commands}");
}

#[test]
fn every_command_that_is_named_anywhere_exists() {
    let mut files = sources(&[
        "wheelhouse",
        "wh-agents",
        "wh-api",
        "wh-app",
        "wh-client",
        "wh-domain",
        "wh-http",
        "wh-mcp",
        "wh-runner",
    ]);
    files.extend(files_in(&root().join("docs"), "md"));
    files.push(root().join("README.md"));
    let mut commands = 0;
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        commands += check_all(&file, &text);
    }
    assert!(commands > 80, "{commands} commands were found");
}

/// Checks every command between backticks, and in a document every line that is one, and returns how many there were.
fn check_all(file: &Path, text: &str) -> usize {
    let is_document = file.extension().is_some_and(|it| it == "md");
    let mut commands = 0;
    for line in text.lines() {
        let quoted = line.split('`').skip(1).step_by(2);
        let whole = line.split('#').next().unwrap_or_default().trim();
        let whole = Some(whole).filter(|_| is_document);
        let named = quoted
            .chain(whole)
            .filter(|it| it.starts_with("wheelhouse "));
        // What is cut, or lists alternatives, is not a command to be typed.
        for command in named.filter(|it| !it.contains(['…', '|', '\\', '['])) {
            commands += 1;
            check(command).unwrap_or_else(|why| panic!("{}: `{command}`: {why}", file.display()));
        }
    }
    commands
}

/// Checks that a command and its flags exist. Its values are placeholders, and what is required may be left out.
fn check(command: &str) -> Result<(), String> {
    let words = words_of(command);
    // Hidden: the server starts it for each session.
    if words.get(1).is_some_and(|word| word == "runner") {
        return Ok(());
    }
    match Cli::command().try_get_matches_from(words) {
        Ok(_) => Ok(()),
        Err(error) => match error.kind() {
            ErrorKind::InvalidSubcommand
            | ErrorKind::UnknownArgument
            | ErrorKind::ArgumentConflict
            | ErrorKind::TooManyValues => Err(error.to_string()),
            _ => Ok(()),
        },
    }
}

/// Splits a command as a shell does, as far as hints need it.
fn words_of(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for c in command.chars() {
        match c {
            '\'' | '"' if quote.is_none() => quote = Some(c),
            c if quote == Some(c) => quote = None,
            ' ' if quote.is_none() => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn sources(crates: &[&str]) -> Vec<PathBuf> {
    let folders = crates
        .iter()
        .map(|name| root().join("crates").join(name).join("src"));
    folders.flat_map(|folder| files_in(&folder, "rs")).collect()
}

fn files_in(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_in(&path, extension));
        } else if path.extension().is_some_and(|it| it == extension) {
            files.push(path);
        }
    }
    files
}

//! Hints name only what this program has: commands, their flags, and nothing of another surface.

use std::fs;
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use clap::error::ErrorKind;

use super::*;
use crate::cli::Cli;

#[test]
fn calls_of_tools_become_commands() {
    for (hint, expected) in [
        (
            "repo_list shows what there is; an id may be shortened",
            "`wheelhouse repo list` shows what there is; an id may be shortened",
        ),
        (
            r#"session_manage {"action": "restore"} brings it back"#,
            "`wheelhouse session restore ID` brings it back",
        ),
        (
            r#"raise it with session_update {"session": ID, "budget": {…}}, or begin another"#,
            "raise it with `wheelhouse session update ID --budget-usd USD`, or begin another",
        ),
        (
            r#"{"session": ID} is the list of a tree, {"list": NAME} one of your own"#,
            "--session ID is the list of a tree, --list NAME one of your own",
        ),
        (
            r#"message_get {"message": ID} shows it; so does `session_get`"#,
            r#"`wheelhouse tool call message_get '{"message": ID}'` shows it; so does `wheelhouse show ID`"#,
        ),
        (
            "no {name} here, my_session_list",
            "no {name} here, my_session_list",
        ),
    ] {
        assert_eq!(in_commands(hint), expected);
    }
}

#[test]
fn every_command_in_the_table_exists() {
    for (tool, _, command) in COMMANDS {
        let is_known = Operation::parse(tool).is_some() || *tool == "tool_search";
        assert!(is_known, "{tool}");
        check(command).unwrap_or_else(|why| panic!("{command}: {why}"));
    }
}

#[test]
fn hints_of_the_server_name_commands_alone() {
    let mut hints = 0;
    for file in sources(&["wh-app", "wh-domain", "wh-http"]) {
        let text = fs::read_to_string(&file).unwrap();
        for hint in hints_in(&text) {
            hints += 1;
            let said = in_commands(&hint);
            let mut outside = said.split('`').step_by(2);
            let names_tool = |text: &str| {
                let mut words = text.split(|c: char| !is_word(c));
                words.any(|word| Operation::parse(word).is_some() && word != "logout")
            };
            let is_foreign = outside.any(|text| names_tool(text) || text.contains("{\""));
            assert!(!is_foreign, "{}: {hint:?} is {said:?}", file.display());
            check_all(&file, &said);
        }
    }
    assert!(hints > 50, "{hints} hints were found");
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

/// Returns the texts that are given to `hint(…)` or `hint: …` as literals.
fn hints_in(text: &str) -> Vec<String> {
    let mut hints = Vec::new();
    for (at, _) in text.match_indices(".hint(") {
        let after = text[at + ".hint(".len()..].trim_start();
        let format = after.strip_prefix("format!(");
        let after = format.unwrap_or(after).trim_start();
        let Some(literal) = after.strip_prefix('"') else {
            continue;
        };
        let mut hint = String::new();
        let mut escaped = false;
        for c in literal.chars() {
            match c {
                '"' if !escaped => break,
                '\\' if !escaped => {
                    escaped = true;
                    continue;
                }
                c => hint.push(c),
            }
            escaped = false;
        }
        hints.push(match format {
            Some(_) => hint.replace("{{", "{").replace("}}", "}"),
            None => hint,
        });
    }
    hints
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

//! Advice of the server in the terms of this program: operations become commands to paste, and arguments become flags.

use serde_json::{Map, Value};
use wh_api::{AdviceView, ErrorView};
use wh_domain::Operation;

/// The program that commands begin with.
const PROGRAM: &str = "wheelhouse";

/// Operations that advice names, and the command for each. The second column narrows a row to calls with an argument, or with a value of
/// one as `name=value`. The first row that fits counts.
const COMMANDS: &[(Operation, &str, &str)] = &[
    (Operation::AgentList, "", "agents"),
    (
        Operation::ApprovalList,
        "include_settled",
        "approvals --all",
    ),
    (Operation::ApprovalList, "", "approvals"),
    (Operation::BoardGet, "", "board show ID"),
    (Operation::BoardList, "", "board list"),
    (Operation::ConfigGet, "", "config show"),
    (Operation::CredentialDelete, "", "credential rm ID"),
    (Operation::CredentialList, "", "credential list"),
    (Operation::KeyList, "", "key list"),
    (Operation::KeyRevoke, "", "key revoke ID"),
    (Operation::LoopList, "", "loop ls"),
    (Operation::LoopPause, "", "loop pause ID"),
    (
        Operation::LoopResume,
        "budget",
        "loop resume ID --budget-usd USD",
    ),
    (
        Operation::LoopResume,
        "iterations_max",
        "loop resume ID --iterations N",
    ),
    (Operation::LoopStart, "", "loop start"),
    (Operation::MessageList, "", "logs ID"),
    (Operation::NoteList, "", "note list"),
    (Operation::RepoAdd, "", "repo add SOURCE"),
    (Operation::RepoList, "", "repo list"),
    (Operation::RepoTrust, "", "repo trust REPO"),
    (
        Operation::SessionCreate,
        "worktree",
        "run --worktree ID 'PROMPT'",
    ),
    (Operation::SessionCreate, "repo", "run --repo REPO 'PROMPT'"),
    (Operation::SessionCreate, "", "run 'PROMPT'"),
    (Operation::SessionFork, "", "fork ID"),
    (Operation::SessionGet, "", "show ID"),
    (Operation::SessionList, "", "ls"),
    (
        Operation::SessionManage,
        "action=restore",
        "session restore ID",
    ),
    (Operation::SessionManage, "action=start", "resume ID"),
    (Operation::SessionManage, "", "session"),
    (Operation::SessionTree, "", "tree ID"),
    (
        Operation::SessionUpdate,
        "budget",
        "session update ID --budget-usd USD",
    ),
    (Operation::SessionWait, "", "wait ID"),
    (Operation::TaskList, "", "task ls"),
    (Operation::TaskNext, "claim", "task next --claim"),
    (Operation::TaskNext, "", "task next"),
    (
        Operation::TaskUpdate,
        "status=cancelled",
        "task update TASK --status cancelled",
    ),
    (Operation::TurnList, "", "turns ID"),
    (Operation::UserList, "", "user list"),
    (Operation::UserUpdate, "disabled", "user enable NAME"),
    (
        Operation::UserUpdate,
        "allow_paths",
        "user allow-path NAME DIRECTORY",
    ),
    (Operation::WebhookDelete, "", "webhook delete ID"),
    (Operation::WebhookList, "", "webhook list"),
    (Operation::WorktreeGet, "", "worktree show ID"),
    (Operation::WorktreeList, "", "worktree ls"),
    (Operation::WorktreeRemove, "", "worktree rm ID"),
];

/// Arguments that advice sets or leaves out, and the flags for them. Advice about an argument that is no flag is shown without one.
const FLAGS: &[(&str, &str)] = &[
    ("base", "--base"),
    ("board", "--board"),
    ("commit", "--commit"),
    ("dialect", "--dialect"),
    ("discard_ignored", "--discard-ignored"),
    ("force", "--force"),
    ("into", "--into"),
    ("leave_uncommitted", "--leave-uncommitted"),
    ("list", "--list"),
    ("loop", "--loop"),
    ("parent", "--parent"),
    ("remove_after", "--remove-after"),
    ("rescue", "--rescue"),
    ("role", "--role"),
    ("session", "--session"),
    ("shared", "--shared"),
    ("tier", "--tier"),
    ("user", "--user"),
    ("zone", "--zone"),
];

/// Returns what to do about an error of the server, in the terms of this program.
pub(super) fn hint_of(error: &ErrorView) -> Option<String> {
    if error.advice.is_empty() {
        return error.hint.clone();
    }
    let texts: Vec<_> = error.advice.iter().map(rendered).collect();
    Some(texts.join("; "))
}

fn rendered(advice: &AdviceView) -> String {
    let text = &advice.text;
    if let Some(command) = &advice.command {
        return format!("to {text}, run `{PROGRAM} {command}`");
    }
    if let Some(operation) = &advice.operation {
        return format!("to {text}, run `{}`", command(operation, &advice.arguments));
    }
    let mut arguments = advice.arguments.iter();
    let flag = arguments.next().and_then(|(name, value)| flag(name, value));
    match flag {
        Some(what) => format!("to {text}, {what}"),
        None => text.clone(),
    }
}

/// Returns the command that calls an operation. Every tool can be called by its name.
fn command(operation: &str, arguments: &Map<String, Value>) -> String {
    let fits = |(named, part, _): &&(Operation, &str, &str)| {
        let is_there = match part.split_once('=') {
            Some((name, value)) => arguments.get(name).and_then(Value::as_str) == Some(value),
            None => part.is_empty() || arguments.contains_key(*part),
        };
        named.name() == operation && is_there
    };
    match COMMANDS.iter().find(fits) {
        Some((_, _, command)) => format!("{PROGRAM} {command}"),
        None if arguments.is_empty() => format!("{PROGRAM} tool call {operation}"),
        None => {
            let arguments = Value::Object(arguments.clone());
            format!("{PROGRAM} tool call {operation} '{arguments}'")
        }
    }
}

/// Says which flag to add or leave out; `None` if the argument is no flag.
fn flag(name: &str, value: &Value) -> Option<String> {
    // Prompts are queued unless one of these says otherwise.
    if name == "when_busy" {
        return Some("leave out `--steer` and `--reject`".to_owned());
    }
    let (_, flag) = FLAGS.iter().find(|(argument, _)| *argument == name)?;
    Some(match value {
        Value::Null => format!("leave out `{flag}`"),
        Value::String(value) => {
            let value = value.trim_matches(['<', '>']);
            format!("add `{flag} {value}`")
        }
        _ => format!("add `{flag}`"),
    })
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;

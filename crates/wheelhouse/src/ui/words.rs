//! Hints of the server in the words of this program: they name MCP tools, and here people type commands.

use wh_domain::Operation;

/// Calls of tools that hints name, and the commands that do the same: the tool, what stands in its arguments, the command. The first row
/// that fits counts.
const COMMANDS: &[(&str, &str, &str)] = &[
    ("agent_list", "", "wheelhouse agents"),
    (
        "approval_list",
        "include_settled",
        "wheelhouse approvals --all",
    ),
    ("approval_list", "", "wheelhouse approvals"),
    ("board_get", "", "wheelhouse board show ID"),
    ("board_list", "", "wheelhouse board list"),
    ("config_get", "", "wheelhouse config show"),
    ("key_list", "", "wheelhouse key list"),
    ("key_revoke", "", "wheelhouse key revoke ID"),
    ("loop_get", "", "wheelhouse loop show ID"),
    ("loop_list", "", "wheelhouse loop ls"),
    ("loop_start", "", "wheelhouse loop start"),
    ("repo_add", "", "wheelhouse repo add SOURCE"),
    ("repo_list", "", "wheelhouse repo list"),
    (
        "session_create",
        "worktree",
        "wheelhouse run --worktree ID 'PROMPT'",
    ),
    ("session_create", "", "wheelhouse run 'PROMPT'"),
    ("session_get", "", "wheelhouse show ID"),
    ("session_list", "", "wheelhouse ls"),
    ("session_manage", "restore", "wheelhouse session restore ID"),
    ("session_manage", "", "wheelhouse session"),
    ("session_tree", "", "wheelhouse tree ID"),
    (
        "session_update",
        "budget",
        "wheelhouse session update ID --budget-usd USD",
    ),
    ("session_update", "", "wheelhouse session update ID"),
    ("session_wait", "", "wheelhouse wait ID"),
    ("task_list", "", "wheelhouse task ls"),
    ("task_next", "claim", "wheelhouse task next --claim"),
    ("task_next", "", "wheelhouse task next"),
    ("task_update", "", "wheelhouse task update TASK"),
    ("tool_search", "", "wheelhouse tool list"),
    ("turn_list", "", "wheelhouse turns ID"),
    ("user_list", "", "wheelhouse user list"),
    ("user_update", "disabled", "wheelhouse user enable NAME"),
    ("worktree_get", "", "wheelhouse worktree show ID"),
    ("worktree_list", "", "wheelhouse worktree ls"),
    ("worktree_remove", "", "wheelhouse worktree rm ID"),
];

/// Fields of tools that hints name, and the flags that do the same.
const FLAGS: &[(&str, &str)] = &[
    ("begun with repo", "begun with --repo"),
    ("delete it with force", "delete it with --force"),
    ("set commit to a commit message", "add --commit MESSAGE"),
    ("set leave_uncommitted", "add --leave-uncommitted"),
    (
        "let the prompt wait: {\"when_busy\": \"queue\"}",
        "let the prompt wait: leave --steer and --reject out",
    ),
    ("leave when_busy out", "leave --steer and --reject out"),
    ("without remove_after", "without --remove-after"),
];

/// Puts commands in place of calls of tools, and flags in place of arguments.
pub(super) fn in_commands(hint: &str) -> String {
    let mut text = hint.to_owned();
    for (field, flag) in FLAGS {
        text = text.replace(field, flag);
    }
    let mut said = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find(|c: char| is_word(c) || c == '{') {
        said.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(arguments) = object(rest) {
            said.push_str(&as_flags(arguments));
            rest = &rest[arguments.len()..];
            continue;
        }
        let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end.max(1));
        rest = after;
        if Operation::parse(word).is_none() && word != "tool_search" {
            said.push_str(word);
            continue;
        }
        let arguments = after.strip_prefix(' ').and_then(object);
        if let Some(arguments) = arguments {
            rest = &after[arguments.len() + 1..];
        }
        let command = command(word, arguments.unwrap_or_default());
        // A hint may have quoted the tool itself.
        match said.ends_with('`') {
            true => said.push_str(&command),
            false => said.push_str(&format!("`{command}`")),
        }
    }
    said.push_str(rest);
    said
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Returns the JSON object that a text begins with, as hints write one.
fn object(text: &str) -> Option<&str> {
    if !text.starts_with("{\"") {
        return None;
    }
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(&text[..=at]);
        }
    }
    None
}

/// Returns the command that does what a call of a tool does. Every tool can be called by its name.
fn command(tool: &str, arguments: &str) -> String {
    let fits = |(name, part, _): &&(&str, &str, &str)| *name == tool && arguments.contains(part);
    match (COMMANDS.iter().find(fits), arguments) {
        (Some((_, _, command)), _) => (*command).to_owned(),
        (None, "") => format!("wheelhouse tool call {tool}"),
        (None, arguments) => format!("wheelhouse tool call {tool} '{arguments}'"),
    }
}

/// Writes `{"list": NAME}` as `--list NAME`.
fn as_flags(arguments: &str) -> String {
    let fields = arguments.trim_matches(['{', '}']).split(", ");
    let flag = |field: &str| {
        let (name, value) = field.split_once(": ").unwrap_or((field, ""));
        let name = name.trim_matches('"').replace('_', "-");
        format!("--{name} {value}").trim_end().to_owned()
    };
    let flags: Vec<_> = fields.map(flag).collect();
    flags.join(" ")
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;

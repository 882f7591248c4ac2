//! What the server says, in the words of this program: its hints name MCP tools, which nobody types here.

/// Tools that hints name, and the commands that do the same.
const COMMANDS: &[(&str, &str)] = &[
    ("agent_list", "wheelhouse agents"),
    ("approval_list", "wheelhouse approvals"),
    ("board_get", "wheelhouse board show"),
    ("board_list", "wheelhouse board list"),
    ("config_get", "wheelhouse config"),
    ("key_list", "wheelhouse key list"),
    ("repo_list", "wheelhouse repo list"),
    ("session_get", "wheelhouse show"),
    ("session_list", "wheelhouse ls"),
    ("session_tree", "wheelhouse tree"),
    ("session_wait", "wheelhouse wait"),
    ("turn_list", "wheelhouse turns"),
    ("user_list", "wheelhouse user list"),
    ("worktree_get", "wheelhouse worktree show"),
    ("worktree_list", "wheelhouse worktree ls"),
];

/// Fields of tools that hints name, and the flags that do the same.
const FLAGS: &[(&str, &str)] = &[
    ("begun with repo", "begun with --repo"),
    ("set leave_uncommitted", "add --leave-uncommitted"),
];

/// Puts commands in place of tools. What is said with arguments of a tool is left as it is: they are not those of a command.
pub(super) fn in_commands(hint: &str) -> String {
    let mut text = hint.to_owned();
    if !hint.contains('{') {
        for (tool, command) in COMMANDS {
            text = text.replace(tool, &format!("`{command}`"));
        }
        for (field, flag) in FLAGS {
            text = text.replace(field, flag);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;

    #[test]
    fn hints_name_commands() {
        let hint = "repo_list shows what there is; an id may be shortened";
        let said = "`wheelhouse repo list` shows what there is; an id may be shortened";
        assert_eq!(in_commands(hint), said);
        let with_arguments = r#"session_manage {"action": "restore"} brings it back"#;
        assert_eq!(in_commands(with_arguments), with_arguments);
    }

    #[test]
    fn every_command_exists() {
        for (_, command) in COMMANDS {
            let mut found = Cli::command();
            for word in command.split(' ').skip(1) {
                let next = found.find_subcommand(word).cloned();
                found = next.unwrap_or_else(|| panic!("there is no `{command}`"));
            }
        }
    }
}

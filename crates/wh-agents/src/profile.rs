//! The table of agents that Wheelhouse knows how to drive.

use wh_domain::AgentName;

/// How one kind of agent is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// What callers name it by.
    pub name: &'static str,
    pub title: &'static str,
    /// One line for people who choose.
    pub about: &'static str,
    /// What must be installed; the first one speaks ACP. Nothing for the agent that is part of this program.
    pub programs: &'static [Program],
    /// Arguments that make the first program speak ACP.
    pub arguments: &'static [&'static str],
    /// Variables it is started with.
    pub environment: &'static [(&'static str, &'static str)],
    pub resume: Resume,
    pub tokens: TokenCount,
    pub cost: CostCount,
    /// Whether it hides tools of MCP servers behind a search unless they are marked.
    pub always_load_tools: bool,
    /// Whether a command goes on running when its turn is cancelled.
    pub cancel_leaves_commands: bool,
    /// Whether images are dropped from a prompt that has a resource beside them.
    pub images_alone: bool,
    /// The file of its directory that it reads and that is nobody's to commit: there it is told which session it is.
    pub context_file: Option<&'static str>,
    /// The files below the home directory in which it keeps its login, and which it writes again when it renews it.
    pub login_files: &'static [&'static str],
    /// Settings files below the home directory, without credentials.
    pub config_files: &'static [&'static str],
    /// Environment variables for the model's URL and key, if the agent has any.
    pub model: Option<ModelVariables>,
    /// The files and directories of its directory from which it reads what it runs or is permitted.
    pub project_config: &'static [ConfigPath],
    /// Variables that keep it from reading any of that.
    pub project_config_off: &'static [(&'static str, &'static str)],
}

/// The variables by which an agent is told where its model is and by what key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelVariables {
    /// Holds the key.
    pub key: &'static str,
    /// Holds the address. Absent: the agent reads that from its configuration files only.
    pub url: Option<&'static str>,
    /// The address unless another is set.
    pub default_url: &'static str,
    /// The header in which the provider expects the key, and what stands before the key in it.
    pub header: &'static str,
    pub prefix: &'static str,
}

/// Configuration that an agent reads from the directory it works in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfigPath {
    /// A file or, ending in `/`, a directory.
    pub path: &'static str,
    /// As in [`wh_domain::ProjectConfig::instructions`].
    pub instructions: &'static [&'static str],
    /// As in [`wh_domain::ProjectConfig::omitted`].
    pub omitted: &'static [&'static str],
    /// As in [`wh_domain::ProjectConfig::created`].
    pub created: &'static [(&'static str, &'static str)],
    /// As in [`wh_domain::ProjectConfig::is_reserved`].
    pub is_reserved: bool,
}

impl ConfigPath {
    const fn new(path: &'static str) -> Self {
        Self {
            path,
            instructions: &[],
            omitted: &[],
            created: &[],
            is_reserved: true,
        }
    }
}

/// A program that an agent needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its name on the `PATH`.
    pub name: &'static str,
    /// The variable that tells the adapter where this program is, so that it does not use a copy of its own.
    pub told_by: Option<&'static str>,
    /// The npm package that it comes with.
    pub package: &'static str,
}

/// How a session is taken up again after its process is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resume {
    /// `session/resume`: nothing is replayed.
    Resume,
    /// `session/load`: the transcript is replayed and must be swallowed.
    Load,
    /// `session/load`, but not within the clock minute in which the session was made: that destroys it.
    LoadInALaterMinute,
    /// Whatever the agent says it can: resume before load.
    AsOffered,
}

/// What an agent means by the tokens it reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenCount {
    /// Input tokens leave cached ones out.
    InputWithoutCached,
    /// Input tokens contain cached ones, which must be taken out.
    InputWithCached,
    /// Only the last model call of a turn is reported.
    LastCallOnly,
}

/// What an agent means by the cost it reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostCount {
    /// Of the whole conversation, also when it is taken up again, as the protocol has it. What a configured agent is taken to mean.
    Conversation,
    /// Since its process began.
    Process,
}

impl Profile {
    /// Returns the profile of this name, if there is one.
    pub(crate) fn of(name: &str) -> Option<&'static Self> {
        PROFILES.iter().find(|profile| profile.name == name)
    }

    /// Returns the ways to install what the agent needs.
    pub(crate) fn ways_to_install(&self) -> Vec<String> {
        let packages: Vec<_> = self.programs.iter().map(|it| it.package).collect();
        vec![
            format!("wheelhouse agents install {}", self.name),
            format!("npm install -g {} (Node 22 or newer)", packages.join(" ")),
        ]
    }
}

impl CostCount {
    /// Returns what the agent of this name means.
    pub fn of(agent: &AgentName) -> Self {
        let profile = PROFILES.iter().find(|it| it.name == agent.as_str());
        profile.map_or(Self::Conversation, |profile| profile.cost)
    }
}

/// Every agent there is a profile for.
pub const PROFILES: &[Profile] = &[
    Profile {
        name: "echo",
        title: "Echo",
        about: "built in, needs no model: does what each line of its prompt says; for trying things out",
        programs: &[],
        arguments: &["agent", "echo"],
        environment: &[],
        resume: Resume::Load,
        tokens: TokenCount::InputWithoutCached,
        cost: CostCount::Conversation,
        always_load_tools: false,
        cancel_leaves_commands: false,
        images_alone: false,
        context_file: None,
        login_files: &[],
        config_files: &[],
        model: None,
        project_config: &[],
        project_config_off: &[],
    },
    Profile {
        name: "claude-code",
        title: "Claude Code",
        about: "Anthropic's coding agent, through its ACP adapter",
        programs: &[
            Program {
                name: "claude-agent-acp",
                told_by: None,
                package: "@agentclientprotocol/claude-agent-acp",
            },
            Program {
                name: "claude",
                told_by: Some("CLAUDE_CODE_EXECUTABLE"),
                package: "@anthropic-ai/claude-code",
            },
        ],
        arguments: &[],
        // Suggestions cost a model call after every turn and nobody sees them here.
        environment: &[("CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION", "false")],
        resume: Resume::Resume,
        tokens: TokenCount::InputWithoutCached,
        cost: CostCount::Process,
        always_load_tools: true,
        cancel_leaves_commands: false,
        images_alone: false,
        context_file: Some("CLAUDE.local.md"),
        login_files: &[".claude/.credentials.json"],
        config_files: &[".claude/settings.json"],
        model: Some(ModelVariables {
            key: "ANTHROPIC_API_KEY",
            url: Some("ANTHROPIC_BASE_URL"),
            default_url: "https://api.anthropic.com",
            header: "x-api-key",
            prefix: "",
        }),
        // Settings hold hooks, permissions and variables; agents, commands and skills can hold hooks and lift permissions.
        project_config: &[
            ConfigPath {
                instructions: &["CLAUDE.md", "rules/"],
                omitted: &["worktrees"],
                ..ConfigPath::new(".claude/")
            },
            ConfigPath::new(".mcp.json"),
        ],
        project_config_off: &[],
    },
    Profile {
        name: "codex",
        title: "Codex",
        about: "OpenAI's coding agent, through its ACP adapter",
        programs: &[
            Program {
                name: "codex-acp",
                told_by: None,
                package: "@agentclientprotocol/codex-acp",
            },
            Program {
                name: "codex",
                told_by: Some("CODEX_PATH"),
                package: "@openai/codex",
            },
        ],
        arguments: &[],
        // In its usual mode a model approves what reaches beyond the sandbox; in this one we are asked.
        environment: &[("INITIAL_AGENT_MODE", "read-only"), ("NO_BROWSER", "1")],
        resume: Resume::Resume,
        tokens: TokenCount::InputWithoutCached,
        cost: CostCount::Conversation,
        always_load_tools: false,
        cancel_leaves_commands: true,
        images_alone: false,
        context_file: None,
        login_files: &[".codex/auth.json"],
        config_files: &[".codex/config.toml"],
        model: Some(ModelVariables {
            key: "OPENAI_API_KEY",
            url: None,
            default_url: "https://api.openai.com",
            header: "authorization",
            prefix: "Bearer ",
        }),
        // The adapter has Codex trust every directory, so that it would load MCP servers, hooks and rules.
        project_config: &[ConfigPath::new(".codex/")],
        project_config_off: &[],
    },
    Profile {
        name: "gemini",
        title: "Gemini CLI",
        about: "Google's coding agent",
        programs: &[Program {
            name: "gemini",
            told_by: None,
            package: "@google/gemini-cli",
        }],
        arguments: &["--acp"],
        environment: &[("GEMINI_CLI_NO_RELAUNCH", "true")],
        resume: Resume::LoadInALaterMinute,
        tokens: TokenCount::InputWithCached,
        cost: CostCount::Conversation,
        always_load_tools: false,
        cancel_leaves_commands: false,
        images_alone: true,
        context_file: None,
        login_files: &[".gemini/oauth_creds.json", ".gemini/google_accounts.json"],
        config_files: &[".gemini/settings.json"],
        model: Some(ModelVariables {
            key: "GEMINI_API_KEY",
            url: Some("GOOGLE_GEMINI_BASE_URL"),
            default_url: "https://generativelanguage.googleapis.com",
            header: "x-goog-api-key",
            prefix: "",
        }),
        // An `.env` file can name another address to send everything to; projects have one for other reasons too.
        project_config: &[
            ConfigPath::new(".gemini/"),
            ConfigPath {
                is_reserved: false,
                ..ConfigPath::new(".env")
            },
        ],
        project_config_off: &[],
    },
    Profile {
        name: "opencode",
        title: "opencode",
        about: "the open source coding agent",
        programs: &[Program {
            name: "opencode",
            told_by: None,
            package: "opencode-ai",
        }],
        arguments: &["acp"],
        // Unless told otherwise it asks nobody.
        environment: &[(
            "OPENCODE_PERMISSION",
            r#"{"edit":"ask","bash":"ask","webfetch":"ask"}"#,
        )],
        resume: Resume::Resume,
        tokens: TokenCount::LastCallOnly,
        cost: CostCount::Conversation,
        always_load_tools: false,
        cancel_leaves_commands: false,
        images_alone: false,
        context_file: None,
        login_files: &[".local/share/opencode/auth.json"],
        config_files: &[".config/opencode/opencode.json"],
        model: None,
        // Plugins are code; the others name plugins, MCP servers, commands and permissions.
        project_config: &[
            ConfigPath::new("opencode.json"),
            ConfigPath::new("opencode.jsonc"),
            ConfigPath {
                instructions: &[".gitignore"],
                omitted: &["node_modules"],
                created: &[(
                    ".gitignore",
                    "node_modules\npackage.json\npackage-lock.json\nbun.lock\n.gitignore",
                )],
                ..ConfigPath::new(".opencode/")
            },
        ],
        project_config_off: &[("OPENCODE_DISABLE_PROJECT_CONFIG", "1")],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_usable() {
        for (index, profile) in PROFILES.iter().enumerate() {
            assert!(AgentName::parse(profile.name).is_ok());
            assert!(
                PROFILES[..index]
                    .iter()
                    .all(|other| other.name != profile.name)
            );
            for config in profile.project_config {
                assert!(wh_domain::ProjectConfig::parse(config.path).is_ok());
            }
        }
    }
}

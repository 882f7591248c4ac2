//! Configuration that coding agents read from the directory they work in, and when a run may see it.
//!
//! Such a file starts commands or changes permissions before any model has decided anything, and comes from whoever wrote the
//! repository, or from an agent that wrote it for its next start. A person approves it by its content.

use std::{
    collections::BTreeSet,
    fmt::{self, Write},
};

use jiff::Timestamp;

use crate::{AgentName, Reference, Repo, RepoId, UserId};

/// Maximum number of configuration paths of one agent.
pub const CONFIG_PATHS_MAX: usize = 32;
/// Maximum number of files below one configuration path; a larger one cannot be approved.
pub const CONFIG_FILES_MAX: usize = 1_000;
/// Maximum number of bytes of all files below one configuration path; a larger one cannot be approved.
pub const CONFIG_BYTES_MAX: u64 = 4 << 20;
/// Maximum number of approvals in one request.
pub const CONFIG_APPROVALS_MAX: usize = 100;

/// Maximum number of approvals of one repository.
pub const CONFIGS_TRUSTED_MAX: usize = 1_000;

const NAME_BYTES_MAX: usize = 100;

/// A file or directory at the top of an agent's working directory from which it reads configuration.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProjectConfig {
    /// Its name, without a slash.
    pub name: String,
    pub is_dir: bool,
    /// Files and directories (ending in `/`) below it that only contain text for the model. They are always shown.
    pub instructions: Vec<String>,
    /// Directories below it that hold installed packages or checkouts. They are neither read nor shown.
    pub omitted: Vec<String>,
    /// Files below it that the agent creates and does not start without, with their content.
    pub created: Vec<(String, String)>,
    /// Whether it cannot be created during a run.
    pub is_reserved: bool,
}

impl ProjectConfig {
    /// Parses a name as in `.agent.json`, or of a directory as in `.agent/`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let name = text.strip_suffix('/').unwrap_or(text);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let is_special = matches!(name, "" | "." | "..") || name.eq_ignore_ascii_case(".git");
        if is_special || name.len() > NAME_BYTES_MAX || !name.chars().all(is_plain) {
            let message = "must be the name of a file or, ending in /, of a directory in the working directory, such as .agent.json or .agent/";
            return Err(message.to_owned());
        }
        Ok(Self {
            name: name.to_owned(),
            is_dir: text.ends_with('/'),
            instructions: Vec::new(),
            omitted: Vec::new(),
            created: Vec::new(),
            is_reserved: true,
        })
    }

    /// Tells whether a file below this path (empty for the path itself) only contains text for the model.
    pub fn is_instruction(&self, below: &str) -> bool {
        self.instructions
            .iter()
            .any(|known| match known.ends_with('/') {
                true => below.starts_with(known.as_str()),
                false => below == known,
            })
    }

    /// Returns what a file is replaced with so that it configures nothing.
    pub fn neutral(file: &str) -> &'static str {
        let is_json = file.ends_with(".json") || file.ends_with(".jsonc");
        match file {
            ".mcp.json" => "{\"mcpServers\":{}}\n",
            _ if is_json => "{}\n",
            _ => "",
        }
    }

    /// Decides what a run sees at this path. `is_writable` says whether the agent can change the directory that contains it.
    pub fn treatment(
        &self,
        state: ConfigState,
        approved: &BTreeSet<(String, ConfigDigest)>,
        is_writable: bool,
    ) -> ConfigTreatment {
        let is_protected = self.is_reserved && is_writable;
        match state {
            ConfigState::Absent if is_protected => ConfigTreatment::Reserve,
            ConfigState::Neutral if is_protected => ConfigTreatment::Show,
            ConfigState::Absent | ConfigState::Neutral => ConfigTreatment::Leave,
            ConfigState::Present(digest) if approved.contains(&(self.name.clone(), digest)) => {
                ConfigTreatment::Show
            }
            ConfigState::Present(_) => ConfigTreatment::Empty,
        }
    }
}

impl fmt::Display for ProjectConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if self.is_dir {
            f.write_char('/')
        } else {
            Ok(())
        }
    }
}

/// An approval of configuration of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedConfig {
    pub repo: RepoId,
    /// The configuration path, without a slash.
    pub name: String,
    pub digest: ConfigDigest,
    pub by: UserId,
    pub at: Timestamp,
}

/// A request to show project configuration, and to approve some of it or to revoke approvals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepoTrust {
    pub repo: Reference,
    /// The worktree, or the session, whose files are shown; those of the default branch unless given.
    pub worktree: Option<Reference>,
    /// What to approve; it must be among what is shown.
    pub approve: Vec<ConfigDigest>,
    /// Approvals to revoke; each must exist.
    pub revoke: Vec<ConfigDigest>,
}

/// The project configuration of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustReport {
    pub repo: Repo,
    /// Where it was read: a branch with its commit, or a directory.
    pub source: String,
    pub configs: Vec<ConfigReport>,
    /// Approvals of other content than what is shown: the configuration path and the digest.
    pub other_approvals: Vec<(String, ConfigDigest)>,
}

/// What is at one configuration path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigReport {
    pub config: ProjectConfig,
    /// The agents that read it.
    pub agents: Vec<AgentName>,
    /// Absent when it cannot be approved.
    pub digest: Option<ConfigDigest>,
    /// Why it cannot be approved.
    pub problem: Option<String>,
    pub is_approved: bool,
    pub files: Vec<ConfigFileReport>,
}

/// A file of project configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFileReport {
    pub path: String,
    pub is_executable: bool,
    pub bytes: u64,
    /// The beginning of its content; bytes that are not UTF-8 are replaced.
    pub text: String,
    pub is_truncated: bool,
}

/// What is at a configuration path before a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigState {
    Absent,
    /// It configures nothing.
    Neutral,
    /// Configuration with this content.
    Present(ConfigDigest),
}

/// What a run sees at a configuration path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigTreatment {
    /// The content, read-only.
    Show,
    /// Files that configure nothing, read-only.
    Empty,
    /// A placeholder, so that it cannot be created.
    Reserve,
    /// The path as it is.
    Leave,
}

/// The SHA-256 of a configuration's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConfigDigest(pub [u8; 32]);

impl ConfigDigest {
    /// Parses 64 hex digits.
    pub fn parse(text: &str) -> Result<Self, String> {
        let refused = || "must be a SHA-256: 64 hex digits".to_owned();
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(refused());
        }
        let mut digest = [0; 32];
        for (byte, digits) in digest.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            let digits = std::str::from_utf8(digits).map_err(|_| refused())?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| refused())?;
        }
        Ok(Self(digest))
    }
}

impl fmt::Display for ConfigDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_single_plain_components() {
        for good in [".claude/", "opencode.json", ".env"] {
            assert_eq!(ProjectConfig::parse(good).unwrap().to_string(), good);
        }
        for bad in [
            "", "/", "..", "../x", "a/b", "/etc", ".git/", ".GIT", "a b", "a*", "a//",
        ] {
            assert!(ProjectConfig::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn only_approved_content_is_shown_and_absent_paths_are_reserved() {
        use ConfigTreatment::{Empty, Leave, Reserve, Show};
        let config = ProjectConfig::parse(".claude/").unwrap();
        let digest = ConfigDigest([7; 32]);
        let none = BTreeSet::new();
        let approved = BTreeSet::from([(".claude".to_owned(), digest)]);
        let elsewhere = BTreeSet::from([(".mcp.json".to_owned(), digest)]);
        let present = ConfigState::Present(digest);
        assert_eq!(config.treatment(present, &none, true), Empty);
        assert_eq!(config.treatment(present, &elsewhere, true), Empty);
        assert_eq!(config.treatment(present, &approved, true), Show);
        assert_eq!(config.treatment(ConfigState::Absent, &none, true), Reserve);
        assert_eq!(config.treatment(ConfigState::Absent, &none, false), Leave);
        assert_eq!(config.treatment(ConfigState::Neutral, &none, true), Show);
        let open = ProjectConfig {
            is_reserved: false,
            ..config
        };
        assert_eq!(open.treatment(ConfigState::Absent, &none, true), Leave);
        assert_eq!(open.treatment(present, &none, true), Empty);
    }

    #[test]
    fn a_digest_is_parsed_as_it_is_shown() {
        let digest = ConfigDigest([0xa5; 32]);
        assert_eq!(ConfigDigest::parse(&digest.to_string()), Ok(digest));
        assert!(ConfigDigest::parse("a5").is_err());
        assert!(ConfigDigest::parse(&"é".repeat(32)).is_err());
    }
}

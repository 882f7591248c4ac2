//! What the configuration file says about repositories: `[repos]`.

use serde::Deserialize;
use wh_domain::RepoRules;

/// The table `[repos]`; what is absent has its default.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileRepos {
    /// Members may fetch from this machine and from private networks.
    allow_private: Option<bool>,
    /// Hosts that members may fetch from wherever they are.
    #[serde(default)]
    allow_hosts: Vec<String>,
}

impl FileRepos {
    /// Returns the rules.
    pub(super) fn rules(&self) -> RepoRules {
        let usual = RepoRules::default();
        RepoRules {
            allow_private: self.allow_private.unwrap_or(usual.allow_private),
            allow_hosts: self.allow_hosts.clone(),
        }
    }
}

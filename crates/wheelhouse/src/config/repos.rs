//! What the configuration file says about repositories: `[repos]`.

use std::time::Duration;

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Deserializer, de::Error};
use wh_domain::{
    CheckoutLimits, ConfiguredCredential, ConfiguredToken, CredentialUse, GitHost, HostLogin,
    HostRules, RepoRules, RepoSource, SecretText, TransferLimits,
};

use super::{Env, SecretWord, parse, paths};

/// The most clones that may be configured to run at the same time.
const CLONES_MAX: usize = 64;

/// The table `[repos]`; what is absent has its default.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileRepos {
    /// Members may fetch from this machine and from private networks.
    allow_private: Option<bool>,
    /// Hosts that members may fetch from wherever they are.
    #[serde(default)]
    allow_hosts: Vec<String>,
    /// The address below which dialects find a repository by `owner/name`; empty for none.
    forge: Option<String>,
    /// How many clones run at the same time.
    clones_max: Option<usize>,
    /// How long a clone or fetch may take.
    #[serde(default, deserialize_with = "duration")]
    clone_timeout: Option<Duration>,
    /// Maximum number of bytes that a clone or fetch may receive.
    #[serde(default, deserialize_with = "bytes")]
    clone_bytes_max: Option<u64>,
    /// How many files a checkout may have.
    checkout_files_max: Option<u64>,
    /// How large the files of a checkout may be together.
    #[serde(default, deserialize_with = "bytes")]
    checkout_bytes_max: Option<u64>,
    /// Settings of single hosts.
    #[serde(default)]
    hosts: BTreeMap<String, FileHost>,
}

/// A table `[repos.hosts."HOST"]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileHost {
    /// A token to read repositories with.
    token: Option<SecretWord>,
    /// The variable that has the token.
    token_env: Option<String>,
    /// Ask `gh auth token --hostname HOST` for the token.
    gh: Option<bool>,
    /// The user name, for hosts that look at it.
    username: Option<String>,
    /// Whose repositories the token is used for: admins, unless it is everyone.
    usable_by: Option<String>,
    /// Certificates that the host's own is checked against, in place of the system's.
    ca_file: Option<String>,
}

impl FileHost {
    /// Returns the rules of a host, or says what is wrong with them.
    fn rules(&self, name: &str, file: &Path, env: Env<'_>) -> Result<HostRules, String> {
        let host = GitHost::parse(name).map_err(|why| format!("[repos.hosts]: {name:?}: {why}"))?;
        let wrong = |why: String| format!("[repos.hosts.{:?}]: {why}", host.as_str());
        let ca_file = self.ca_file.as_deref();
        let ca_file = ca_file.map(|path| paths::beside(file, path)).transpose();
        Ok(HostRules {
            ca_file: ca_file.map_err(|error| wrong(error.body.error.message))?,
            credential: self.credential(env).map_err(wrong)?,
            host,
        })
    }

    fn credential(&self, env: Env<'_>) -> Result<Option<ConfiguredCredential>, String> {
        let usable_by = match self.usable_by.as_deref() {
            None | Some("admins") => CredentialUse::Admins,
            Some("everyone") => CredentialUse::Everyone,
            Some(_) => return Err("`usable_by` must be admins or everyone".to_owned()),
        };
        let token = match (&self.token, &self.token_env, self.gh.unwrap_or(false)) {
            (None, None, false) => return Ok(None),
            (Some(SecretWord(token)), None, false) => ConfiguredToken::Text(token.clone()),
            (None, Some(name), false) => match env(name).filter(|text| !text.is_empty()) {
                Some(text) => ConfiguredToken::Text(SecretText::new(text)),
                None => ConfiguredToken::MissingVariable(name.clone()),
            },
            (None, None, true) => ConfiguredToken::Gh,
            _ => {
                let why = "takes one of `token`, `token_env` and `gh`; remove the others";
                return Err(why.to_owned());
            }
        };
        let username = self.username.clone();
        if let ConfiguredToken::Text(token) = &token {
            HostLogin::new(username.as_deref(), token).map_err(|why| why.to_string())?;
        }
        Ok(Some(ConfiguredCredential {
            username,
            token,
            usable_by,
        }))
    }
}

impl FileRepos {
    /// Tells whether a token stands in the file.
    pub(super) fn has_token(&self) -> bool {
        self.hosts.values().any(|host| host.token.is_some())
    }

    /// Returns the rules, or says what is wrong with them. Paths begin beside `file`.
    pub(super) fn rules(&self, file: &Path, env: Env<'_>) -> Result<RepoRules, String> {
        let usual = RepoRules::default();
        let hosts = self.hosts.iter();
        let hosts = hosts.map(|(name, host)| host.rules(name, file, env));
        Ok(RepoRules {
            hosts: hosts.collect::<Result<_, _>>()?,
            forge: match self.forge.as_deref() {
                None => usual.forge,
                Some("") => None,
                Some(forge) => {
                    // Any name will do to see whether addresses come of it.
                    RepoSource::on_forge(forge, "owner/name").ok_or_else(|| {
                        format!(
                            "[repos]: `forge` must be an https:// or ssh:// address, not {forge:?}"
                        )
                    })?;
                    Some(forge.to_owned())
                }
            },
            allow_private: self.allow_private.unwrap_or(usual.allow_private),
            allow_hosts: self.allow_hosts.clone(),
            clones_max: self
                .clones_max
                .unwrap_or(usual.clones_max)
                .clamp(1, CLONES_MAX),
            transfer: TransferLimits {
                time: self.clone_timeout.unwrap_or(usual.transfer.time),
                bytes_max: self.clone_bytes_max.unwrap_or(usual.transfer.bytes_max),
            },
            checkout: CheckoutLimits {
                files_max: self.checkout_files_max.unwrap_or(usual.checkout.files_max),
                bytes_max: self.checkout_bytes_max.unwrap_or(usual.checkout.bytes_max),
            },
        })
    }
}

fn duration<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    let text = String::deserialize(from)?;
    parse::duration(&text).map(Some).map_err(D::Error::custom)
}

fn bytes<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    let text = String::deserialize(from)?;
    parse::bytes(&text).map(Some).map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_with_their_units() {
        let file: FileRepos = toml::from_str(
            "clone_timeout = \"5m\"\nclone_bytes_max = \"500 MB\"\ncheckout_bytes_max = \"1 GB\"\nclones_max = 0\n",
        )
        .unwrap();
        let rules = file.rules(Path::new("/etc/x.toml"), &|_| None).unwrap();
        assert_eq!(rules.transfer.time, Duration::from_secs(300));
        assert_eq!(rules.transfer.bytes_max, 500_000_000);
        assert_eq!(rules.checkout.bytes_max, 1_000_000_000);
        assert_eq!(rules.checkout.files_max, 200_000);
        assert_eq!(rules.clones_max, 1);
        assert_eq!(rules.forge.as_deref(), Some("https://github.com"));
        let forge = |text: &str| {
            let file: FileRepos = toml::from_str(&format!("forge = \"{text}\"")).unwrap();
            file.rules(Path::new("/etc/x.toml"), &|_| None)
                .map(|it| it.forge)
        };
        assert_eq!(forge(""), Ok(None));
        let named = "https://git.example".to_owned();
        assert_eq!(forge(&named), Ok(Some(named)));
        assert!(forge("file:///srv").is_err());
        for bad in ["clone_timeout = \"soon\"", "clone_bytes_max = \"5 mails\""] {
            assert!(toml::from_str::<FileRepos>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_host_has_one_source_of_its_token() {
        let env = |name: &str| (name == "TOKEN").then(|| "canary".to_owned());
        let read = |text: &str| {
            let file: FileRepos = toml::from_str(text).unwrap();
            file.rules(Path::new("/etc/x.toml"), &env)
        };
        let host = |fields: &str| read(&format!("[hosts.\"Git.Example:8443\"]\n{fields}"));
        let credential = |fields: &str| host(fields).unwrap().hosts[0].credential.clone();
        let text = Some(ConfiguredToken::Text(SecretText::new("canary".to_owned())));
        let token = |fields: &str| credential(fields).map(|it| it.token);
        assert_eq!(token("token = \"canary\""), text);
        assert_eq!(token("token_env = \"TOKEN\""), text);
        assert_eq!(token("gh = true"), Some(ConfiguredToken::Gh));
        assert_eq!(token("ca_file = \"ca.pem\""), None);
        let missing = ConfiguredToken::MissingVariable("OTHER".to_owned());
        assert_eq!(token("token_env = \"OTHER\""), Some(missing));
        let usable_by = |fields: &str| credential(fields).unwrap().usable_by;
        assert_eq!(usable_by("gh = true"), CredentialUse::Admins);
        let everyone = "gh = true\nusable_by = \"everyone\"";
        assert_eq!(usable_by(everyone), CredentialUse::Everyone);
        let rules = host("ca_file = \"ca.pem\"").unwrap();
        assert_eq!(rules.hosts[0].host.as_str(), "git.example:8443");
        assert_eq!(
            rules.hosts[0].ca_file.as_deref(),
            Some(Path::new("/etc/ca.pem"))
        );
        for bad in [
            "gh = true\ntoken = \"canary\"",
            "token = \"canary canary\"",
            "token = \"canary\"\nusername = \"a:b\"",
            "gh = true\nusable_by = \"own\"",
        ] {
            let refused = host(bad).unwrap_err();
            assert!(!refused.contains("canary"), "{refused}");
        }
        assert!(read("[hosts.\"a/b\"]\ngh = true").is_err());
        let file: FileRepos = toml::from_str("[hosts.h]\ntoken = \"canary\"").unwrap();
        assert!(!format!("{file:?}").contains("canary"));
    }
}

//! What the configuration file says about repositories: `[repos]`.

use std::time::Duration;

use serde::{Deserialize, Deserializer, de::Error};
use wh_domain::{CheckoutLimits, RepoRules, TransferLimits};

use super::parse;

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
}

impl FileRepos {
    /// Returns the rules.
    pub(super) fn rules(&self) -> RepoRules {
        let usual = RepoRules::default();
        RepoRules {
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
        }
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
        let rules = file.rules();
        assert_eq!(rules.transfer.time, Duration::from_secs(300));
        assert_eq!(rules.transfer.bytes_max, 500_000_000);
        assert_eq!(rules.checkout.bytes_max, 1_000_000_000);
        assert_eq!(rules.checkout.files_max, 200_000);
        assert_eq!(rules.clones_max, 1);
        for bad in ["clone_timeout = \"soon\"", "clone_bytes_max = \"5 mails\""] {
            assert!(toml::from_str::<FileRepos>(bad).is_err(), "{bad}");
        }
    }
}

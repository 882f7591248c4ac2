//! What the configuration says about repositories: where they may be fetched from, and how much of them.

use core::{net::IpAddr, time::Duration};

use crate::{GitHost, HostRules, is_public_address};

/// Where repositories may be fetched from, and how much of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepoRules {
    /// Members may fetch from this machine and from private networks.
    pub allow_private: bool,
    /// Hosts that members may fetch from wherever they are, in lower case.
    pub allow_hosts: Vec<String>,
    /// Settings of single hosts.
    pub hosts: Vec<HostRules>,
    /// Where repositories are that a dialect names by `owner/name` alone; `None` turns that off.
    pub forge: Option<String>,
    /// How many clones may run at the same time.
    pub clones_max: usize,
    pub transfer: TransferLimits,
    pub checkout: CheckoutLimits,
}

/// How long a clone or fetch may take and how much it may bring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferLimits {
    pub time: Duration,
    /// Bytes of packed objects.
    pub bytes_max: u64,
}

/// How large a checkout may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckoutLimits {
    pub files_max: u64,
    pub bytes_max: u64,
}

impl Default for RepoRules {
    fn default() -> Self {
        Self {
            allow_private: false,
            allow_hosts: Vec::new(),
            hosts: Vec::new(),
            forge: Some("https://github.com".to_owned()),
            clones_max: 4,
            transfer: TransferLimits::default(),
            checkout: CheckoutLimits::default(),
        }
    }
}

impl Default for TransferLimits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(15 * 60),
            bytes_max: 2 << 30,
        }
    }
}

impl Default for CheckoutLimits {
    fn default() -> Self {
        Self {
            files_max: 200_000,
            bytes_max: 10 << 30,
        }
    }
}

impl RepoRules {
    /// Tells whether members may fetch from a host whatever its addresses are.
    pub fn trusts(&self, host: &str) -> bool {
        let is_host = |allowed: &String| allowed.eq_ignore_ascii_case(host);
        self.allow_private || self.allow_hosts.iter().any(is_host)
    }

    /// Returns the settings of a host.
    pub fn host(&self, host: &GitHost) -> Option<&HostRules> {
        self.hosts.iter().find(|rules| rules.host == *host)
    }

    /// Tells whether members may fetch from one address of a host.
    pub fn allows(&self, host: &str, address: IpAddr) -> bool {
        self.trusts(host) || is_public_address(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_addresses_need_to_be_allowed() {
        let public: IpAddr = "93.184.216.34".parse().unwrap();
        let private: IpAddr = "10.0.0.1".parse().unwrap();
        let usual = RepoRules::default();
        assert!(usual.allows("git.example.org", public));
        assert!(!usual.allows("git.example.org", private));
        let listed = RepoRules {
            allow_hosts: vec!["git.internal".to_owned()],
            ..RepoRules::default()
        };
        assert!(listed.allows("Git.Internal", private));
        assert!(!listed.allows("other.internal", private));
        let open = RepoRules {
            allow_private: true,
            ..RepoRules::default()
        };
        assert!(open.allows("other.internal", private));
    }
}

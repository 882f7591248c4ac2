//! Which hosts of the network a session may connect to.
//!
//! Names are compared after [`HostName::parse`] has normalized them, and a resolver is given exactly the string that was
//! compared. A name that one program reads as a host and another as an IP address is refused.

use core::{fmt, net::IpAddr};

use crate::{Tier, is_public_address};

/// The port of a rule that names none.
const DEFAULT_PORT: u16 = 443;
/// The most bytes of a host name, without a trailing dot.
const HOST_BYTES_MAX: usize = 253;
/// The most bytes between two dots of a host name.
const LABEL_BYTES_MAX: usize = 63;
/// The most rules of one list; a longer one is refused.
const RULES_MAX: usize = 200;

/// A DNS host name in its one spelling: ASCII, lower case, without a trailing dot, and never an IP address.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostName(String);

/// Why a text is not a [`HostName`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostNameRefusal {
    #[error("the host name is empty")]
    Empty,
    #[error("the host name has more than {HOST_BYTES_MAX} bytes")]
    TooLong,
    #[error("IP addresses are not allowed; use a host name")]
    IpAddress,
    #[error("a host name has ASCII letters, digits, hyphens and dots only")]
    Character,
    #[error(
        "each part between the dots of a host name has 1 to {LABEL_BYTES_MAX} characters and neither begins nor ends with a hyphen"
    )]
    Label,
}

impl HostName {
    /// Parses a host name as RFC 1123 defines it. Letters become lower case, and one trailing dot is removed.
    pub fn parse(text: &str) -> Result<Self, HostNameRefusal> {
        let name = text.strip_suffix('.').unwrap_or(text);
        if name.is_empty() {
            return Err(HostNameRefusal::Empty);
        }
        if name.len() > HOST_BYTES_MAX {
            return Err(HostNameRefusal::TooLong);
        }
        if name.starts_with('[') || name.parse::<IpAddr>().is_ok() {
            return Err(HostNameRefusal::IpAddress);
        }
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
        if !name.bytes().all(is_allowed) {
            return Err(HostNameRefusal::Character);
        }
        if !name.split('.').all(is_label) {
            return Err(HostNameRefusal::Label);
        }
        let name = name.to_ascii_lowercase();
        if name.rsplit('.').next().is_some_and(is_number) {
            return Err(HostNameRefusal::IpAddress);
        }
        Ok(Self(name))
    }

    /// Returns the name as it is compared and resolved.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Tells whether this is a name below `parent`, and not `parent` itself.
    fn is_below(&self, parent: &Self) -> bool {
        let above = self.0.strip_suffix(parent.as_str());
        above.is_some_and(|above| above.len() > 1 && above.ends_with('.'))
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_label(label: &str) -> bool {
    (1..=LABEL_BYTES_MAX).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-')
}

/// Tells whether a last label makes resolvers read the whole name as an IPv4 address: `1`, `0x7f`, `017`. No top-level domain
/// looks like that.
fn is_number(label: &str) -> bool {
    let hex = label.strip_prefix("0x");
    hex.is_some_and(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
        || label.bytes().all(|byte| byte.is_ascii_digit())
}

/// One entry of a [`HostList`]: `example.com`, `*.example.com` for the names below it only, each with an optional `:port`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRule {
    host: HostName,
    /// The rule is for the names below `host` instead of `host` itself.
    is_wildcard: bool,
    port: u16,
}

/// Why a text is not a [`HostRule`], or a list of them not a [`HostList`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostRuleRefusal {
    #[error(transparent)]
    Host(#[from] HostNameRefusal),
    #[error("the port must be a number from 1 to 65535")]
    Port,
    #[error(
        "`*.` must be followed by a domain of at least two parts, such as *.example.com; name hosts of shorter domains one by one"
    )]
    Wildcard,
    #[error("the list has more than {RULES_MAX} hosts")]
    TooMany,
}

impl HostRule {
    /// Parses a rule.
    pub fn parse(text: &str) -> Result<Self, HostRuleRefusal> {
        let (is_wildcard, rest) = match text.strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (host, port) = match rest.split_once(':') {
            // More than one colon is an IPv6 address.
            Some((_, port)) if port.contains(':') => {
                return Err(HostNameRefusal::IpAddress.into());
            }
            Some((host, port)) => (host, parse_port(port).ok_or(HostRuleRefusal::Port)?),
            None => (rest, DEFAULT_PORT),
        };
        let host = HostName::parse(host)?;
        if is_wildcard && !host.as_str().contains('.') {
            return Err(HostRuleRefusal::Wildcard);
        }
        Ok(Self {
            host,
            is_wildcard,
            port,
        })
    }

    /// Tells whether the rule is for this host and port.
    fn allows(&self, host: &HostName, port: u16) -> bool {
        let is_host = match self.is_wildcard {
            true => host.is_below(&self.host),
            false => *host == self.host,
        };
        is_host && port == self.port
    }

    /// Returns whether everything that `other` allows is allowed by this rule too.
    fn covers(&self, other: &Self) -> bool {
        let is_host = match (self.is_wildcard, other.is_wildcard) {
            (true, _) if other.host.is_below(&self.host) => true,
            (is_wildcard, of_other) => is_wildcard == of_other && self.host == other.host,
        };
        is_host && self.port == other.port
    }
}

impl fmt::Display for HostRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_wildcard {
            f.write_str("*.")?;
        }
        fmt::Display::fmt(&self.host, f)?;
        match self.port {
            DEFAULT_PORT => Ok(()),
            port => write!(f, ":{port}"),
        }
    }
}

/// Parses the port of a rule or of a request: decimal digits only, and not 0.
fn parse_port(text: &str) -> Option<u16> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let port = text.parse().ok()?;
    (is_plain && port != 0).then_some(port)
}

/// Parses the target of a CONNECT request, `host:port`.
pub fn parse_host_and_port(text: &str) -> Result<(HostName, u16), HostRuleRefusal> {
    let (host, port) = text.rsplit_once(':').ok_or(HostRuleRefusal::Port)?;
    let host = HostName::parse(host)?;
    Ok((host, parse_port(port).ok_or(HostRuleRefusal::Port)?))
}

/// The hosts that a session may connect to. Empty: none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostList(Vec<HostRule>);

impl HostList {
    /// Parses a list of rules; names the first that is not valid.
    pub fn parse<T: AsRef<str>>(
        rules: impl IntoIterator<Item = T>,
    ) -> Result<Self, (String, HostRuleRefusal)> {
        let mut list = Vec::new();
        for text in rules {
            let text = text.as_ref();
            let rule = HostRule::parse(text).map_err(|refusal| (text.to_owned(), refusal))?;
            if list.len() == RULES_MAX {
                return Err((text.to_owned(), HostRuleRefusal::TooMany));
            }
            list.push(rule);
        }
        Ok(Self(list))
    }

    /// Tells whether one of the rules is for this host and port.
    pub fn allows(&self, host: &HostName, port: u16) -> bool {
        self.0.iter().any(|rule| rule.allows(host, port))
    }

    pub fn rules(&self) -> &[HostRule] {
        &self.0
    }

    /// Returns the rules of this list that `limit` allows as well.
    #[must_use]
    pub fn within(&self, limit: &Self) -> Self {
        let rules = self.0.iter().filter(|rule| limit.covers(rule));
        Self(rules.cloned().collect())
    }

    fn covers(&self, rule: &HostRule) -> bool {
        self.0.iter().any(|own| own.covers(rule))
    }
}

/// Why a session cannot have the hosts that were asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostsRefusal {
    #[error("{rule} is not among the hosts that this session may be allowed")]
    NotAllowed { rule: HostRule },
    #[error("hosts can be limited in the tiers strict and container only")]
    NotIsolated,
}

/// Decides which hosts a session may connect to. `server` lists what the server allows at most, `parent` what the parent session has,
/// if it has a list of its own. Returns nothing for a session that has no list of its own.
pub fn choose_hosts(
    asked: Option<HostList>,
    tier: Tier,
    server: &HostList,
    parent: Option<&HostList>,
) -> Result<Option<HostList>, HostsRefusal> {
    let Some(asked) = asked else {
        return Ok(parent.cloned());
    };
    if !tier.is_isolated() {
        return Err(HostsRefusal::NotIsolated);
    }
    let is_allowed =
        |rule: &HostRule| server.covers(rule) && parent.is_none_or(|list| list.covers(rule));
    match asked.rules().iter().find(|rule| !is_allowed(rule)) {
        Some(rule) => Err(HostsRefusal::NotAllowed { rule: rule.clone() }),
        None => Ok(Some(asked)),
    }
}

/// Which addresses an allowed host may resolve to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddressPolicy {
    /// Hosts allowed to resolve to loopback or private addresses. All other hosts must resolve to public addresses.
    pub private_hosts: HostList,
}

impl AddressPolicy {
    /// Tells whether a session may connect to this address of a host.
    pub fn allows(&self, host: &HostName, port: u16, address: IpAddr) -> bool {
        is_public_address(address) || self.private_hosts.allows(host, port)
    }
}

#[cfg(test)]
#[path = "egress_tests.rs"]
mod tests;

//! Which addresses may be connected to.

use std::net::{IpAddr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};
use wh_domain::is_public_address;

/// The most bytes of an address.
const URL_BYTES_MAX: usize = 2_000;

/// Why an address is not told anything.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressRefusal {
    #[error("the address is not a URL of at most {URL_BYTES_MAX} bytes")]
    NotAUrl,
    #[error("the address must begin with https://")]
    Scheme,
    #[error("the address must not hold a user name or password")]
    Credentials,
    #[error("{0} is an address of this machine or of a private network")]
    Private(IpAddr),
    #[error("the name stands for no address that may be connected to")]
    NoAddress,
}

/// Reads an address and refuses what can be refused without resolving its name. Plain HTTP is for private networks only.
pub fn check_url(text: &str, allow_private: bool) -> Result<Url, AddressRefusal> {
    if text.len() > URL_BYTES_MAX {
        return Err(AddressRefusal::NotAUrl);
    }
    let url = Url::parse(text).map_err(|_| AddressRefusal::NotAUrl)?;
    if url.scheme() != "https" && !(allow_private && url.scheme() == "http") {
        return Err(AddressRefusal::Scheme);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(AddressRefusal::Credentials);
    }
    let literal = match url.host() {
        Some(Host::Ipv4(ip)) => Some(IpAddr::V4(ip)),
        Some(Host::Ipv6(ip)) => Some(IpAddr::V6(ip)),
        Some(Host::Domain(_)) => None,
        None => return Err(AddressRefusal::NotAUrl),
    };
    match literal {
        Some(ip) if !allow_private && !is_public_address(ip) => Err(AddressRefusal::Private(ip)),
        _ => Ok(url),
    }
}

/// Resolves names to public addresses; what it returns is what is connected to.
pub(crate) struct Resolver {
    pub(crate) allow_private: bool,
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let allow_private = self.allow_private;
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let allowed = |address: &SocketAddr| allow_private || is_public_address(address.ip());
            let found: Vec<_> = found.filter(allowed).collect();
            if found.is_empty() {
                return Err(AddressRefusal::NoAddress.into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_addresses_are_refused_however_they_are_written() {
        for host in [
            "127.0.0.1",
            "127.1",
            "0x7f.1",
            "2130706433",
            "017700000001",
            "0.0.0.0",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "[::1]",
            "[::]",
            "[::ffff:7f00:1]",
            "[::ffff:169.254.169.254]",
            "[::127.0.0.1]",
            "[64:ff9b::7f00:1]",
            "[2002:7f00:1::]",
            "[fe80::1]",
            "[fc00::1]",
            "[fd12:3456::1]",
            "[ff02::1]",
            "[2001:db8::1]",
            "[2001::1]",
        ] {
            let refused = check_url(&format!("https://{host}/hook"), false);
            assert!(
                matches!(refused, Err(AddressRefusal::Private(_))),
                "{host}: {refused:?}"
            );
            assert!(
                check_url(&format!("http://{host}/hook"), true).is_ok(),
                "{host}"
            );
        }
        for host in [
            "example.org",
            "93.184.216.34",
            "[2606:2800:220:1::1]",
            "localhost",
        ] {
            // A name is looked at when it is resolved.
            assert!(
                check_url(&format!("https://{host}/hook"), false).is_ok(),
                "{host}"
            );
        }
    }

    #[test]
    fn other_schemes_and_credentials_are_refused() {
        for (url, refusal) in [
            ("http://example.org/", AddressRefusal::Scheme),
            ("file:///etc/passwd", AddressRefusal::Scheme),
            ("ftp://example.org/", AddressRefusal::Scheme),
            (
                "https://user:pass@example.org/",
                AddressRefusal::Credentials,
            ),
            ("example.org", AddressRefusal::NotAUrl),
        ] {
            assert_eq!(check_url(url, false).unwrap_err(), refusal, "{url}");
        }
    }

    #[tokio::test]
    async fn a_name_of_this_machine_is_refused_when_it_is_resolved() {
        let name = |text: &str| text.parse::<Name>().unwrap();
        let refused = Resolver {
            allow_private: false,
        }
        .resolve(name("localhost"))
        .await;
        let refused = refused.err().unwrap().to_string();
        assert_eq!(refused, AddressRefusal::NoAddress.to_string());
        let found = Resolver {
            allow_private: true,
        }
        .resolve(name("localhost"))
        .await;
        assert!(found.unwrap().all(|address| address.ip().is_loopback()));
    }
}

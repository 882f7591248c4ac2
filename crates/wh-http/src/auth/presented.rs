//! What a request shows to be let in.

use std::net::IpAddr;

use axum::extract::Request;
use http::{HeaderMap, HeaderValue, header};
use wh_domain::SecretText;

use crate::{login::COOKIE, serve::Peer};

/// The credential of a request: the header if there is one, else the address's parameter where there may be one, else the
/// socket, else the cookie.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Presented {
    Nothing,
    /// Something that is no credential, or more than one.
    Unusable,
    /// Our own user, on the Unix socket.
    Local,
    Bearer {
        secret: SecretText,
        address: Option<IpAddr>,
    },
    /// Part of the request's address, where others see it: in logs, histories and process lists.
    InAddress {
        secret: SecretText,
        address: Option<IpAddr>,
    },
    Cookie {
        secret: SecretText,
        address: Option<IpAddr>,
    },
}

impl Presented {
    /// Reads what a request shows; `parameter` is the part of its query that may hold a credential.
    pub(super) fn by(request: &Request, parameter: Option<&str>) -> Self {
        let peer = request.extensions().get::<Peer>().copied();
        let own_uid = rustix::process::geteuid().as_raw();
        let query = request.uri().query().unwrap_or_default();
        let in_query = parameter.map(|name| in_query(query, name));
        Self::of(
            request.headers(),
            in_query.unwrap_or_default(),
            peer,
            own_uid,
        )
    }

    fn of(headers: &HeaderMap, in_query: Vec<&str>, peer: Option<Peer>, own_uid: u32) -> Self {
        let address = match peer {
            Some(Peer::Tcp(address)) => Some(address.ip().to_canonical()),
            _ => None,
        };
        let mut authorization = headers.get_all(header::AUTHORIZATION).iter();
        match (authorization.next(), authorization.next()) {
            (Some(only), None) => {
                return bearer(only)
                    .map_or(Self::Unusable, |secret| Self::Bearer { secret, address });
            }
            (Some(_), Some(_)) => return Self::Unusable,
            (None, _) => {}
        }
        match in_query.as_slice() {
            [] => {}
            [only] => {
                let secret = SecretText::new((*only).to_owned());
                return Self::InAddress { secret, address };
            }
            _ => return Self::Unusable,
        }
        if matches!(peer, Some(Peer::Unix { uid, .. }) if uid == own_uid) {
            return Self::Local;
        }
        let mut cookies = cookies(headers);
        match (cookies.next(), cookies.next()) {
            (None, _) => Self::Nothing,
            (Some(secret), None) => Self::Cookie { secret, address },
            // Which of them another site planted cannot be told.
            _ => Self::Unusable,
        }
    }
}

/// Returns the values of a parameter. Credentials hold nothing that would have to be escaped.
pub(crate) fn in_query<'a>(query: &'a str, name: &str) -> Vec<&'a str> {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs
        .filter(|(key, _)| *key == name)
        .map(|(_, value)| value)
        .collect()
}

fn bearer(value: &HeaderValue) -> Option<SecretText> {
    let (scheme, secret) = value.to_str().ok()?.split_once(' ')?;
    let secret = secret.trim();
    let is_bearer = scheme.eq_ignore_ascii_case("bearer") && !secret.is_empty();
    is_bearer.then(|| SecretText::new(secret.to_owned()))
}

fn cookies(headers: &HeaderMap) -> impl Iterator<Item = SecretText> + '_ {
    let values = headers.get_all(header::COOKIE).iter();
    values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(name, _)| *name == COOKIE)
        .map(|(_, value)| SecretText::new(value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: u32 = 1000;

    fn of(headers: &[(&str, &str)], peer: Peer) -> Presented {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let name = http::HeaderName::try_from(*name).unwrap();
            map.append(name, value.parse().unwrap());
        }
        Presented::of(&map, Vec::new(), Some(peer), OURS)
    }

    fn secret(text: &str) -> SecretText {
        SecretText::new(text.to_owned())
    }

    #[test]
    fn the_header_comes_before_the_socket_and_the_socket_before_the_cookie() {
        let unix = |uid| Peer::Unix { uid, pid: None };
        let cookie = ("cookie", "a=b; __Host-wheelhouse=c");
        let bearer = ("authorization", "bearer k");
        assert_eq!(of(&[], unix(OURS)), Presented::Local);
        assert_eq!(of(&[cookie], unix(OURS)), Presented::Local);
        assert_eq!(of(&[], unix(0)), Presented::Nothing);
        let address = None;
        assert_eq!(
            of(&[bearer, cookie], unix(OURS)),
            Presented::Bearer {
                secret: secret("k"),
                address
            }
        );
        assert_eq!(
            of(&[cookie], unix(1)),
            Presented::Cookie {
                secret: secret("c"),
                address
            }
        );
    }

    #[test]
    fn an_address_may_carry_the_credential_where_its_contract_says_so() {
        let shown = |headers: &[(&str, &str)], parameter| {
            let mut request = http::Request::get("/mcp?a=b&sessionToken=k");
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            let request = request.body(axum::body::Body::empty()).unwrap();
            Presented::by(&request, parameter)
        };
        let bearer = |text| Presented::Bearer {
            secret: secret(text),
            address: None,
        };
        assert_eq!(shown(&[], None), Presented::Nothing);
        let in_address = Presented::InAddress {
            secret: secret("k"),
            address: None,
        };
        assert_eq!(shown(&[], Some("sessionToken")), in_address);
        let header = ("authorization", "Bearer h");
        assert_eq!(shown(&[header], Some("sessionToken")), bearer("h"));
        assert_eq!(in_query("t=1&t=2", "t"), ["1", "2"]);
    }

    #[test]
    fn what_is_ambiguous_or_no_bearer_lets_nobody_in() {
        let peer = Peer::Tcp(([127, 0, 0, 1], 1).into());
        for headers in [
            &[("authorization", "Bearer a"), ("authorization", "Bearer a")][..],
            &[("authorization", "Basic abc")],
            &[("authorization", "Bearer ")],
            &[("authorization", "wh_full_1")],
            &[("cookie", "__Host-wheelhouse=a; __Host-wheelhouse=b")],
            &[
                ("cookie", "__Host-wheelhouse=a"),
                ("cookie", "__Host-wheelhouse=b"),
            ],
        ] {
            assert_eq!(of(headers, peer), Presented::Unusable, "{headers:?}");
        }
        assert_eq!(of(&[("cookie", "wheelhouse=a")], peer), Presented::Nothing);
    }
}

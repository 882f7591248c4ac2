//! Which network addresses the server connects to for callers.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Tells whether an address is one of the public network: not of this machine, a private network or a reserved range.
pub fn is_public_address(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => match embedded(ip) {
            Some(inner) => is_public_v4(inner),
            None => is_public_v6(ip),
        },
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    let is_shared = a == 100 && (64..128).contains(&b);
    let is_protocol = (a, b, c) == (192, 0, 0) || (a, b, c) == (192, 88, 99);
    let is_benchmark = a == 198 && (b == 18 || b == 19);
    !(a == 0
        || a >= 240
        || is_shared
        || is_protocol
        || is_benchmark
        || ip.is_private()
        || ip.is_loopback()
        || ip.is_link_local()
        || ip.is_multicast()
        || ip.is_documentation())
}

/// Only what is given out as global unicast, without what is set apart in it.
fn is_public_v6(ip: Ipv6Addr) -> bool {
    let [first, second, ..] = ip.segments();
    let is_global = first & 0xe000 == 0x2000;
    let is_set_apart = first == 0x2001 && (second < 0x0200 || second == 0x0db8);
    is_global && !is_set_apart && first != 0x3fff
}

/// Returns the IPv4 address that an IPv6 address stands for: mapped, compatible, translated (NAT64) or 6to4.
fn embedded(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let low = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        Some(Ipv4Addr::new(a, b, c, d))
    };
    match ip.segments() {
        [0, 0, 0, 0, 0, 0 | 0xffff, a, b] => low(a, b),
        [0, 0, 0, 0, 0xffff, 0, a, b] => low(a, b),
        [0x0064, 0xff9b, .., a, b] => low(a, b),
        [0x2002, a, b, ..] => low(a, b),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_public_network_are_public() {
        for inner in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "255.255.255.255",
            "::1",
            "::",
            "fe80::1",
            "fd12:3456::1",
            "::ffff:127.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
        ] {
            assert!(!is_public_address(inner.parse().unwrap()), "{inner}");
        }
        for public in ["93.184.216.34", "8.8.8.8", "2606:2800:220:1::1"] {
            assert!(is_public_address(public.parse().unwrap()), "{public}");
        }
    }
}

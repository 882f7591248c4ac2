use proptest::prelude::*;

use super::*;

#[test]
fn host_names_have_one_spelling() {
    for (text, name) in [
        ("example.com", "example.com"),
        ("Example.COM", "example.com"),
        ("example.com.", "example.com"),
        ("a-b.example.com", "a-b.example.com"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("1password.com", "1password.com"),
        ("127.0.0.1.example.com", "127.0.0.1.example.com"),
        ("0x7f.example", "0x7f.example"),
        ("registry", "registry"),
        ("0xg", "0xg"),
    ] {
        assert_eq!(HostName::parse(text).unwrap().as_str(), name, "{text}");
    }
}

#[test]
fn what_is_no_host_name_is_refused() {
    use HostNameRefusal::{Character, Empty, IpAddress, Label, TooLong};
    let long = "a.".repeat(127) + "ab";
    let label = format!("{}.com", "a".repeat(64));
    for (text, refusal) in [
        ("", Empty),
        (".", Empty),
        ("example.com..", Label),
        (".example.com", Label),
        ("a..b", Label),
        ("-a.com", Label),
        ("a-.com", Label),
        (&label, Label),
        (&long, TooLong),
        ("allowed.com\0.evil.com", Character),
        ("allowed.com\r\n.evil.com", Character),
        ("allowed.com\u{7f}", Character),
        ("allowed.com/.evil.com", Character),
        ("allowed.com#.evil.com", Character),
        ("allowed.com?.evil.com", Character),
        ("allowed.com\\.evil.com", Character),
        ("user@allowed.com", Character),
        ("allowed.com%00", Character),
        ("allowed.com:443", Character),
        (" allowed.com", Character),
        ("*.allowed.com", Character),
        ("bücher.example", Character),
        ("allowed。com", Character),
        ("under_score.com", Character),
        ("127.0.0.1", IpAddress),
        ("127.0.0.1.", IpAddress),
        ("127.1", IpAddress),
        ("2130706433", IpAddress),
        ("0", IpAddress),
        ("017700000001", IpAddress),
        ("0177.0.0.1", IpAddress),
        ("0x7f000001", IpAddress),
        ("0X7F000001", IpAddress),
        ("0x7f.0.0.0x1", IpAddress),
        ("0x7f.1", IpAddress),
        ("0x", IpAddress),
        ("256.256.256.256", IpAddress),
        ("1.2.3.4.5", IpAddress),
        ("example.com.1", IpAddress),
        ("::1", IpAddress),
        ("[::1]", IpAddress),
        ("[::ffff:127.0.0.1]", IpAddress),
        ("::ffff:127.0.0.1", IpAddress),
        ("::ffff:7f00:1", IpAddress),
        ("[fe80::1%eth0]", IpAddress),
        ("[", IpAddress),
    ] {
        assert_eq!(HostName::parse(text), Err(refusal), "{text:?}");
    }
    assert_eq!("a.".repeat(126).len() + 1, HOST_BYTES_MAX);
    assert!(HostName::parse(&("a.".repeat(126) + "a.")).is_ok());
}

#[test]
fn rules_round_trip() {
    for (text, shown) in [
        ("example.com", "example.com"),
        ("Example.com:443", "example.com"),
        ("*.example.com", "*.example.com"),
        ("example.com:8443", "example.com:8443"),
        ("*.Example.com.:22", "*.example.com:22"),
        ("registry:5000", "registry:5000"),
    ] {
        let rule = HostRule::parse(text).unwrap();
        assert_eq!(rule.to_string(), shown, "{text}");
        assert_eq!(HostRule::parse(shown), Ok(rule), "{text}");
    }
}

#[test]
fn rules_that_say_too_much_or_nothing_are_refused() {
    use HostRuleRefusal::{Host, Port, Wildcard};
    for (text, refusal) in [
        ("", Host(HostNameRefusal::Empty)),
        ("*", Host(HostNameRefusal::Character)),
        ("*.", Host(HostNameRefusal::Empty)),
        ("*.com", Wildcard),
        ("*.com.", Wildcard),
        ("*.*.com", Host(HostNameRefusal::Character)),
        ("a.*.com", Host(HostNameRefusal::Character)),
        ("*example.com", Host(HostNameRefusal::Character)),
        ("https://example.com", Port),
        ("example.com/path", Host(HostNameRefusal::Character)),
        ("example.com:", Port),
        ("example.com:0", Port),
        ("example.com:+443", Port),
        ("example.com:65536", Port),
        ("example.com:443:443", Host(HostNameRefusal::IpAddress)),
        ("10.0.0.1", Host(HostNameRefusal::IpAddress)),
        ("10.0.0.1:443", Host(HostNameRefusal::IpAddress)),
        ("[::1]:443", Host(HostNameRefusal::IpAddress)),
        ("*.0.0.1", Host(HostNameRefusal::IpAddress)),
    ] {
        assert_eq!(HostRule::parse(text), Err(refusal), "{text:?}");
    }
    let many = vec!["example.com"; RULES_MAX + 1];
    let (_, refusal) = HostList::parse(&many).unwrap_err();
    assert_eq!(refusal, HostRuleRefusal::TooMany);
    assert!(HostList::parse(&many[1..]).is_ok());
    let (named, _) = HostList::parse(["example.com", "10.0.0.1"]).unwrap_err();
    assert_eq!(named, "10.0.0.1");
}

#[test]
fn a_list_allows_what_it_names() {
    let list =
        HostList::parse(["example.com", "*.example.org", "git.test:22", "registry"]).unwrap();
    for (target, is_allowed) in [
        ("example.com:443", true),
        ("EXAMPLE.com.:443", true),
        ("example.com:80", false),
        ("example.com:22", false),
        ("www.example.com:443", false),
        ("notexample.com:443", false),
        ("example.com.evil.net:443", false),
        ("www.example.org:443", true),
        ("a.b.example.org:443", true),
        ("example.org:443", false),
        ("wwwexample.org:443", false),
        ("www.example.org:8443", false),
        ("git.test:22", true),
        ("git.test:443", false),
        ("registry:443", true),
        ("localhost:443", false),
    ] {
        let (host, port) = parse_host_and_port(target).unwrap();
        assert_eq!(list.allows(&host, port), is_allowed, "{target}");
    }
    let (host, port) = parse_host_and_port("example.com:443").unwrap();
    assert!(!HostList::default().allows(&host, port));
}

#[test]
fn targets_without_a_plain_port_are_refused() {
    for target in [
        "example.com",
        "example.com:",
        "example.com:0",
        "example.com:x",
        "example.com:443 ",
        "example.com:443:443",
        "user@example.com:443",
        "[::1]:443",
        "::1:443",
        ":443",
    ] {
        assert!(parse_host_and_port(target).is_err(), "{target}");
    }
}

#[test]
fn private_addresses_are_for_private_hosts() {
    let host = HostName::parse("git.corp.example").unwrap();
    let other = HostName::parse("example.com").unwrap();
    let policy = AddressPolicy {
        private_hosts: HostList::parse(["git.corp.example"]).unwrap(),
    };
    let private: IpAddr = "10.0.0.1".parse().unwrap();
    let public: IpAddr = "93.184.216.34".parse().unwrap();
    assert!(policy.allows(&host, 443, private));
    assert!(!policy.allows(&host, 22, private));
    assert!(!policy.allows(&other, 443, private));
    assert!(policy.allows(&other, 443, public));
    assert!(!AddressPolicy::default().allows(&host, 443, private));
}

proptest! {
    /// Parsing is total, and what it returns is one spelling that no program reads as an address.
    #[test]
    fn parsed_names_are_stable(text in "[a-zA-Z0-9.\\-]{0,40}|[0-9xXa-f.]{1,20}|\\PC{0,20}") {
        if let Ok(name) = HostName::parse(&text) {
            prop_assert_eq!(HostName::parse(name.as_str()), Ok(name.clone()));
            prop_assert!(name.as_str().parse::<IpAddr>().is_err());
            prop_assert!(name.as_str().bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.')));
            let without_dot = text.strip_suffix('.').unwrap_or(&text);
            prop_assert!(without_dot.eq_ignore_ascii_case(name.as_str()));
            // The standard for URLs reads as an address what resolvers may read as one.
            let url = url::Url::parse(&format!("https://{name}/"));
            let read = url.as_ref().ok().and_then(url::Url::host_str);
            prop_assert!(read.is_none_or(|read| read.parse::<IpAddr>().is_err()));
        }
    }

    #[test]
    fn rules_never_allow_beyond_their_suffix(rule in "(\\*\\.)?[a-c]{1,3}\\.[a-c]{1,3}", host in "([a-c]{1,3}\\.){0,3}[a-c]{1,3}") {
        let (rule, host) = (HostRule::parse(&rule).unwrap(), HostName::parse(&host).unwrap());
        let expected = match rule.to_string().strip_prefix("*.") {
            Some(parent) => host.as_str().ends_with(&format!(".{parent}")),
            None => host.as_str() == rule.to_string(),
        };
        prop_assert_eq!(rule.allows(&host, 443), expected);
        prop_assert!(!rule.allows(&host, 444));
        prop_assert_eq!(HostRule::parse(&rule.to_string()), Ok(rule));
    }
}

fn hosts(rules: &[&str]) -> HostList {
    HostList::parse(rules).unwrap()
}

#[test]
fn a_session_has_no_hosts_that_the_server_or_its_parent_does_not_have() {
    let server = hosts(&["github.com", "*.example.org", "git.example.net:22"]);
    let choose = |asked: &[&str], parent: Option<&HostList>| {
        choose_hosts(Some(hosts(asked)), Tier::Strict, &server, parent)
    };
    for allowed in [
        &[][..],
        &["github.com"],
        &["a.example.org", "*.b.example.org", "*.example.org"],
        &["git.example.net:22"],
    ] {
        assert_eq!(choose(allowed, None), Ok(Some(hosts(allowed))));
    }
    for refused in [
        "gitlab.com",
        "api.github.com",
        "*.github.com",
        "example.org",
        "*.org.example",
        "notexample.org",
        "github.com:8443",
        "git.example.net",
    ] {
        let rule = HostRule::parse(refused).unwrap();
        assert_eq!(
            choose(&["github.com", refused], None),
            Err(HostsRefusal::NotAllowed { rule })
        );
    }
    let parent = hosts(&["*.b.example.org"]);
    assert!(choose(&["x.b.example.org"], Some(&parent)).is_ok());
    assert!(choose(&["a.example.org"], Some(&parent)).is_err());
}

#[test]
fn a_session_without_hosts_of_its_own_has_its_parents() {
    let server = hosts(&["github.com", "example.org"]);
    let parent = hosts(&["github.com"]);
    let choose = |tier, parent| choose_hosts(None, tier, &server, parent);
    assert_eq!(choose(Tier::Strict, None), Ok(None));
    assert_eq!(choose(Tier::Guarded, None), Ok(None));
    assert_eq!(
        choose(Tier::Strict, Some(&parent)),
        Ok(Some(parent.clone()))
    );
    let asked = choose_hosts(Some(parent.clone()), Tier::Guarded, &server, None);
    assert_eq!(asked, Err(HostsRefusal::NotIsolated));
    // The server's list may have changed since the session was created.
    let now = hosts(&["example.org"]);
    assert_eq!(parent.within(&now), HostList::default());
    assert_eq!(parent.within(&server), parent);
}

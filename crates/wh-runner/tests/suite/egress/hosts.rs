//! Which hosts an agent gets a tunnel to.

use std::{collections::BTreeSet, net::SocketAddr};

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::harness::{Server, Setup, leave_network, soon};

#[tokio::test]
async fn hosts_that_are_not_listed_are_refused() {
    let server = Server::start();
    let network = Setup::default()
        .hosts(&["allowed.test", "*.wild.test", "ssh.test:22"])
        .name("evil.test", &[server.address])
        .name("wild.test", &[server.address])
        .start()
        .await;
    for target in [
        "evil.test:443",
        "allowed.test:80",
        "allowed.test:22",
        "sub.allowed.test:443",
        "allowed.test.evil.test:443",
        "wild.test:443",
        "evilwild.test:443",
        "ssh.test:443",
        "localhost:443",
        "localhost:80",
    ] {
        let answer = network.connect(target).await;
        assert_eq!(answer.status, 403, "{target}");
        let why = format!(
            "{target} is not an allowed host of this session; the operator can add it to containment.hosts\n"
        );
        assert_eq!(answer.text, why);
    }
    assert_eq!(network.names.asked(), Vec::<String>::new());
    server.assert_unused();
}

#[tokio::test]
async fn addresses_are_refused_in_every_spelling() {
    let server = Server::start();
    let port = server.address.port();
    let network = Setup::default().hosts(&["allowed.test"]).start().await;
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0X7F.1",
        "017700000001",
        "0177.0.0.1",
        "127.0.0.1.",
        "0",
        "169.254.169.254",
        "93.184.216.34",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[2606:2800:220:1::1]",
    ] {
        for port in [443, port] {
            let answer = network.connect(&format!("{host}:{port}")).await;
            assert_eq!(answer.status, 403, "{host}:{port}");
            let why = "the target of CONNECT is not allowed: IP addresses are not allowed; use a host name\n";
            assert_eq!(answer.text, why, "{host}");
        }
    }
    assert_eq!(network.names.asked(), Vec::<String>::new());
    server.assert_unused();
}

#[tokio::test]
async fn names_that_two_programs_could_read_differently_are_refused() {
    let server = Server::start();
    let network = Setup::default()
        .private_hosts(&["allowed.test"])
        .name("allowed.test", &[server.address])
        .start()
        .await;
    for target in [
        "allowed.test\0.evil.test:443",
        "allowed.test%00.evil.test:443",
        "allowed.test#.evil.test:443",
        "allowed.test/.evil.test:443",
        "allowed.test?.evil.test:443",
        "allowed.test\\.evil.test:443",
        "allowed.test:443@evil.test:443",
        "evil.test@allowed.test:443",
        "allowed.test\t:443",
        "allowed.test..:443",
        ".allowed.test:443",
        "allowed_.test:443",
        "all\u{f6}wed.test:443",
        "allowed.test:",
        "allowed.test",
        "allowed.test:0",
        "allowed.test:65979",
        "allowed.test:+443",
        ":443",
        "::1:443",
    ] {
        let answer = network.connect(target).await;
        assert!(
            matches!(answer.status, 400 | 403),
            "{target:?}: {} {}",
            answer.status,
            answer.text
        );
    }
    assert_eq!(network.names.asked(), Vec::<String>::new());
    server.assert_unused();
}

#[tokio::test]
async fn the_resolver_is_given_the_name_that_was_compared() {
    let server = Server::start();
    let network = Setup::default()
        .private_hosts(&["allowed.test:22", "*.wild.test:22"])
        .name("allowed.test", &[server.address])
        .name("a.wild.test", &[server.address])
        .start()
        .await;
    for target in ["ALLOWED.test.:22", "A.Wild.Test:22"] {
        let mut client = network.open(target).await;
        let mut upstream = server.accept().await;
        client.write_all(b"ping").await.unwrap();
        let mut got = [0; 4];
        soon(upstream.read_exact(&mut got)).await.unwrap();
        assert_eq!(&got, b"ping");
    }
    assert_eq!(network.names.asked(), ["allowed.test", "a.wild.test"]);
}

#[tokio::test]
async fn a_name_keeps_its_first_addresses() {
    let (first, second) = (Server::start(), Server::start());
    let network = Setup::default()
        .private_hosts(&["allowed.test:22"])
        .name("allowed.test", &[first.address])
        .name("allowed.test", &[second.address])
        .start()
        .await;
    for target in ["allowed.test:22", "allowed.test:22", "Allowed.test.:22"] {
        network.open(target).await;
        first.accept().await;
    }
    assert_eq!(network.names.asked(), ["allowed.test"]);
    second.assert_unused();
}

#[tokio::test]
async fn private_addresses_are_refused_like_hosts_that_do_not_answer() {
    // Where a connection would succeed, so that only the rule refuses it.
    let private = [
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "100.64.0.1",
        "169.254.1.1",
        "169.254.169.254",
        "fd12:3456::1",
    ];
    let (server, addresses) = match leave_network(&private) {
        true => {
            let own = ["127.0.0.1", "127.8.9.10", "0.0.0.0", "::1", "::"];
            let mapped = ["::ffff:127.0.0.1", "::ffff:169.254.169.254"];
            let addresses = [&own[..], &mapped, &private].concat();
            (Server::start_at("[::]:0"), addresses)
        }
        false => (
            Server::start(),
            vec!["127.0.0.1", "0.0.0.0", "::ffff:127.0.0.1"],
        ),
    };
    let port = server.address.port();
    // That it does succeed for a host that the operator lists as private.
    let trusted = format!("trusted.test:{port}");
    for address in &addresses {
        let network = Setup::default()
            .private_hosts(&[&trusted])
            .name(
                "trusted.test",
                &[SocketAddr::new(address.parse().unwrap(), 0)],
            )
            .start()
            .await;
        network.open(&trusted).await;
        server.accept().await;
    }
    let closed = Server::start().address;
    let rule = |name: &str| format!("{name}:{port}");
    let mut rules = vec![
        rule("closed.test"),
        rule("missing.test"),
        rule("empty.test"),
    ];
    let mut setup = Setup::default()
        .private_hosts(&[&rules[0]])
        .name("closed.test", &[closed])
        .name("empty.test", &[]);
    for (number, address) in addresses.iter().enumerate() {
        let name = format!("n{number}.test");
        rules.push(rule(&name));
        setup = setup.name(&name, &[SocketAddr::new(address.parse().unwrap(), 0)]);
    }
    let rules: Vec<_> = rules.iter().map(String::as_str).collect();
    let network = setup.hosts(&rules).start().await;
    let mut heads = BTreeSet::new();
    for target in rules {
        let answer = network.connect(target).await;
        assert_eq!(answer.status, 502, "{target}");
        let why = format!(
            "cannot connect to {target}: it has no allowed address or does not answer; the operator finds the reason in the log of the run\n"
        );
        assert_eq!(answer.text, why);
        let lines = answer.head.lines().skip(1);
        let names = lines.filter_map(|line| line.split_once(": "));
        let names: Vec<_> = names.map(|(name, _)| name.to_owned()).collect();
        heads.insert(names);
    }
    assert_eq!(heads.len(), 1, "{heads:?}");
    server.assert_unused();
}

#[tokio::test]
async fn other_methods_are_refused() {
    let server = Server::start();
    let network = Setup::default()
        .private_hosts(&["allowed.test", "allowed.test:80"])
        .name("allowed.test", &[server.address])
        .start()
        .await;
    for request in [
        "GET http://allowed.test/ HTTP/1.1\r\nhost: allowed.test\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: allowed.test\r\n\r\n",
        "POST http://allowed.test/ HTTP/1.1\r\nhost: allowed.test\r\ncontent-length: 3\r\n\r\nabc",
        "OPTIONS * HTTP/1.1\r\nhost: allowed.test\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: allowed.test\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n",
    ] {
        let answer = network.send(request.as_bytes()).await;
        assert_eq!(answer.status, 405, "{request}");
        assert_eq!(
            answer.text,
            "this proxy supports CONNECT only; use an https URL\n"
        );
        assert!(answer.head.contains("allow: CONNECT"), "{}", answer.head);
    }
    server.assert_unused();
}

#[tokio::test]
async fn each_refused_host_is_reported_once() {
    let mut network = Setup::default().hosts(&["allowed.test"]).start().await;
    for target in [
        "evil.test:443",
        "Evil.Test.:443",
        "evil.test:443",
        "10.0.0.1:80",
    ] {
        assert_eq!(network.connect(target).await.status, 403);
    }
    for (host, port) in [("evil.test", 443), ("10.0.0.1", 80)] {
        let report = soon(network.refused.recv()).await.unwrap();
        assert_eq!((report.host.as_str(), report.port), (host, port));
    }
    for number in 0..40 {
        let answer = network.connect(&format!("n{number}.test:443")).await;
        assert_eq!(answer.status, 403);
    }
    let mut count = 2;
    while network.refused.try_recv().is_ok() {
        count += 1;
    }
    assert_eq!(count, 20);
}

#[tokio::test]
async fn the_number_of_different_hosts_is_limited() {
    let server = Server::start();
    let network = Setup::default()
        .private_hosts(&["*.wild.test:22"])
        .name("n0.wild.test", &[server.address])
        .start()
        .await;
    for number in 0..1_000 {
        let target = format!("n{number}.wild.test:22");
        let expected = if number == 0 { 200 } else { 502 };
        assert_eq!(network.connect(&target).await.status, expected);
    }
    let answer = network.connect("n1000.wild.test:22").await;
    assert_eq!(answer.status, 403);
    assert_eq!(
        answer.text,
        "this session has connected to 1000 different hosts, which is the limit of one run\n"
    );
    network.open("n0.wild.test:22").await;
    assert_eq!(network.names.asked().len(), 1_000);
}

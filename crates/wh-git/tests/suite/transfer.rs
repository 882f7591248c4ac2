//! Fetching and mirroring.

use std::{net::TcpListener, sync::Mutex};

use wh_domain::RepoSource;
use wh_git::{Base, HttpHeader, PinnedHost, RepoHandle, Start, Transfer};

use crate::lab::{Lab, branch, commit_id, run, write};

#[tokio::test]
async fn a_mirror_is_made_and_kept_up_to_date() {
    let lab = Lab::new();
    let source = RepoSource::parse(lab.user().to_str().unwrap()).unwrap();
    let lines = Mutex::new(Vec::new());
    let progress = |line: &str| lines.lock().unwrap().push(line.to_owned());
    let dir = lab.path().join("mirrors/one.git");
    let mirror = RepoHandle::mirror(&dir, &Transfer::of(&source), &progress)
        .await
        .unwrap();
    assert!(!lines.lock().unwrap().is_empty());
    assert_eq!(mirror.default_branch().await.unwrap(), Some(branch("main")));
    assert!(mirror.paths().work_tree.is_none());
    assert!(
        RepoHandle::mirror(&dir, &Transfer::of(&source), &progress)
            .await
            .is_err()
    );
    let start = Start::NewBranch {
        branch: branch("work"),
        base: Base::Branch(branch("main")),
    };
    mirror
        .worktree_create(&lab.root(), "w", &start)
        .await
        .unwrap();
    let origin = branch("origin");
    let moved = mirror
        .fetch(&Transfer::of(&source), &origin, &progress)
        .await
        .unwrap();
    assert!(moved.is_empty());
    write(&lab.user().join("new"), "x");
    run(&lab.user(), &["add", "-A"]);
    run(&lab.user(), &["commit", "-qm", "new"]);
    let moved = mirror
        .fetch(&Transfer::of(&source), &origin, &progress)
        .await
        .unwrap();
    assert_eq!(moved, ["refs/remotes/origin/main"]);
    assert_eq!(
        run(
            &dir,
            &["log", "-1", "--format=%s", "refs/remotes/origin/main"]
        ),
        "new"
    );
    let (fresh, base) = mirror
        .worktree_ensure(&lab.root(), "fresh", &branch("fresh"), None)
        .await
        .unwrap();
    // New work begins where the source is now, and is compared with that.
    assert!(fresh.paths().path.join("new").exists());
    assert_eq!(base, commit_id(&lab.user(), "main"));
    std::fs::create_dir_all(lab.path().join("mirrors/.partial-1/repo.git/objects")).unwrap();
    RepoHandle::mirrors_tidy(&lab.path().join("mirrors")).unwrap();
    assert_eq!(
        std::fs::read_dir(lab.path().join("mirrors"))
            .unwrap()
            .count(),
        1
    );
}

#[tokio::test]
async fn a_token_goes_nowhere_else() {
    let lab = Lab::new();
    let [asked, evil] = [0, 0].map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
    let url = format!("https://{}/team/app.git", asked.local_addr().unwrap());
    let evil_url = format!("https://{}/", evil.local_addr().unwrap());
    let set = |key: &str, value: &str| drop(run(&lab.user(), &["config", key, value]));
    set(&format!("url.{evil_url}.insteadOf"), &url);
    set(&format!("url.{evil_url}.pushInsteadOf"), &url);
    set("http.proxy", &evil.local_addr().unwrap().to_string());
    set("https.proxy", &evil.local_addr().unwrap().to_string());
    set("http.sslVerify", "false");
    set("remote.origin.url", &evil_url);
    // What answers is not TLS, so the transfer fails before anything is sent.
    let serve = std::thread::spawn(move || drop(asked.accept().unwrap()));
    let header = HttpHeader::new("Authorization: Bearer canary-token".to_owned()).unwrap();
    assert!(!format!("{header:?}").contains("canary"));
    let source = RepoSource::parse(&url).unwrap();
    let (repo, origin) = (lab.repo(), branch("origin"));
    let sent = Transfer {
        header: Some(&header),
        ..Transfer::of(&source)
    };
    let failed = repo.fetch(&sent, &origin, &|_| {}).await;
    let failed = format!("{:?}", failed.unwrap_err());
    assert!(!failed.contains("canary"), "{failed}");
    serve.join().unwrap();
    evil.set_nonblocking(true).unwrap();
    assert!(evil.accept().is_err(), "somebody else was asked");
    for bad in ["no header", "A: b\r\nC: d", ""] {
        assert!(HttpHeader::new(bad.to_owned()).is_err());
    }
}

/// A name that is resolved and checked is not resolved again by git, so that it cannot come to mean another host.
#[tokio::test]
async fn git_connects_to_the_pinned_address_alone() {
    let lab = Lab::new();
    let asked = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = asked.local_addr().unwrap().port();
    // Nobody resolves this name.
    let url = format!("https://git.invalid:{port}/team/app.git");
    let source = RepoSource::parse(&url).unwrap();
    let pin = PinnedHost {
        endpoint: source.endpoint().unwrap(),
        addresses: vec!["127.0.0.1".parse().unwrap()],
    };
    let transfer = Transfer {
        pin: Some(&pin),
        ..Transfer::of(&source)
    };
    let serve = std::thread::spawn(move || drop(asked.accept().unwrap()));
    let (repo, origin) = (lab.repo(), branch("origin"));
    repo.fetch(&transfer, &origin, &|_| {}).await.unwrap_err();
    serve.join().unwrap();
}

//! Private repositories over https: which credential is used, for whom, and that it is seen by its host alone.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
};

use reqwest::Method;
use serde_json::{Value, json};
use wh_testkit::{
    git::{git, program, repository},
    git_server::{Behaviour, GitServer, basic},
};

use crate::harness::{Mcp, World};

/// Returns a token that no other test has, and what it is sent as.
fn canary() -> [String; 2] {
    let token = format!("canary-{}", uuid::Uuid::now_v7().simple());
    let sent = basic("x-access-token", &token);
    [token, sent]
}

/// A Wheelhouse server, and a git forge with one private repository.
struct Lab {
    world: World,
    forge: GitServer,
    token: String,
    /// The header that the token is sent in.
    sent: String,
}

impl Lab {
    /// Starts both; `rules` is said of the forge in the configuration.
    async fn new(rules: &str) -> Self {
        let world = World::new().await;
        let [token, sent] = canary();
        let private = Behaviour {
            authorization: Some(sent.clone()),
            ..Behaviour::default()
        };
        let forge = GitServer::start(&world.server.home().join("forge"), private);
        let from = repository(&world.server.home().join("made"));
        let to = forge.dir("team/app.git");
        git(&from, &["clone", "-q", "--bare", ".", to.to_str().unwrap()]);
        let mut lab = Self {
            world,
            forge,
            token,
            sent,
        };
        lab.configure(rules);
        lab
    }

    fn configure(&mut self, rules: &str) {
        let (host, ca) = (self.forge.host(), self.forge.ca_file().display());
        let text = format!(
            "[repos]\nallow_hosts = [\"127.0.0.1\"]\n[repos.hosts.\"{host}\"]\nca_file = \"{ca}\"\n{rules}"
        );
        self.world.server.configure(&text);
        self.world.server.restart();
    }

    fn client(&self, key: &str) -> Mcp {
        self.world.client(key).toolsets("all")
    }

    /// Adds the private repository and makes a worktree of it; returns the repository as it was added, and what came of
    /// the worktree.
    async fn add(&self, key: &str) -> (Value, Value) {
        let client = self.client(key);
        let name = uuid::Uuid::now_v7().to_string();
        let new = json!({ "source": self.forge.url("team/app.git"), "name": name });
        let repo = Mcp::data(&client.call("repo_add", new).await);
        let new = json!({ "repo": repo["id"], "name": "x" });
        let made = client.call("worktree_create", new).await;
        (repo, made)
    }

    async fn check(&self, key: &str, repo: &Value) -> Value {
        let asked = json!({ "repo": repo["id"] });
        Mcp::data(&self.client(key).call("repo_check", asked).await)
    }

    async fn rest(&self, key: &str, method: Method, path: &str, body: Value) -> (u16, Value) {
        let url = format!("{}/api/v1{path}", self.world.server.url());
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let mut request = client.request(method, url).bearer_auth(key);
        if !body.is_null() {
            request = request.json(&body);
        }
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        (status, answer.json().await.unwrap_or_default())
    }

    /// Stores a token for the forge.
    async fn set(&self, key: &str, token: &str, usable_by: &str) -> (u16, Value) {
        let host = self.forge.host();
        let new = json!({ "host": host, "token": token, "usable_by": usable_by });
        self.rest(key, Method::POST, "/credentials", new).await
    }

    /// Returns how many requests have shown the token.
    fn shown(&self) -> usize {
        let asked = self.forge.asked();
        let sent = Some(self.sent.as_str());
        let shown = asked.iter();
        shown
            .filter(|it| it.authorization.as_deref() == sent)
            .count()
    }

    /// Tells whether something holds the token, as it is or as it is sent.
    fn is_in(&self, bytes: &[u8]) -> bool {
        holds(bytes, &self.token, &self.sent)
    }

    /// Fails if a file of the server, the database and the log among them, holds the token.
    fn assert_nowhere(&self) {
        let mut files = 0;
        let mut dirs = vec![self.world.server.data_dir()];
        let log = self.world.server.home().join("server.log");
        let mut check = |path: &Path| {
            let bytes = fs::read(path).unwrap_or_default();
            assert!(!self.is_in(&bytes), "{path:?}");
            files += 1;
        };
        check(&log);
        while let Some(dir) = dirs.pop() {
            for entry in fs::read_dir(dir).unwrap().flatten() {
                match entry.file_type().unwrap() {
                    kind if kind.is_dir() => dirs.push(entry.path()),
                    kind if kind.is_file() => check(&entry.path()),
                    _ => {}
                }
            }
        }
        assert!(files >= 4, "{files} files");
    }
}

fn holds(bytes: &[u8], token: &str, sent: &str) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let word = sent.trim_start_matches("Basic ");
    text.contains(token) || text.contains(word)
}

/// Watches the processes of this machine for the token.
struct Watch {
    stop: Arc<AtomicBool>,
    /// The programs that were seen, and what was wrong with them.
    seen: Arc<Mutex<(BTreeSet<String>, Vec<String>)>>,
    thread: JoinHandle<()>,
}

impl Watch {
    fn begin(lab: &Lab) -> Self {
        let (token, sent) = (lab.token.clone(), lab.sent.clone());
        let (stop, seen) = (Arc::new(AtomicBool::new(false)), Arc::default());
        let (end, found) = (Arc::clone(&stop), Arc::clone(&seen));
        let thread = std::thread::spawn(move || {
            while !end.load(Ordering::Relaxed) {
                Self::pass(&found, &|bytes| holds(bytes, &token, &sent));
            }
        });
        Self { stop, seen, thread }
    }

    fn pass(found: &Mutex<(BTreeSet<String>, Vec<String>)>, holds: &dyn Fn(&[u8]) -> bool) {
        let own = std::process::id().to_string();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let path = entry.path();
            if entry.file_name().to_string_lossy() == own {
                continue;
            }
            let read = |name: &str| fs::read(path.join(name)).unwrap_or_default();
            let (arguments, environment) = (read("cmdline"), read("environ"));
            if !holds(&arguments) && !holds(&environment) {
                continue;
            }
            // Read last: during `exec` a process has its new environment before its new name. A process that has exited cannot be
            // identified.
            let Ok(program) = fs::read_link(path.join("exe")) else {
                continue;
            };
            let name = program.file_name().unwrap_or_default();
            let name = name.to_string_lossy().into_owned();
            let mut found = found.lock().unwrap();
            if holds(&arguments) {
                found.1.push(format!("arguments of {name}"));
            }
            // The git process that fetches, and the parts of git that it starts.
            if holds(&environment) && !name.starts_with("git") {
                found.1.push(format!("environment of {name}"));
            }
            if holds(&environment) {
                found.0.insert(name);
            }
        }
    }

    /// Returns the programs that had the token, all of them parts of git.
    fn end(self) -> BTreeSet<String> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap();
        let (had, wrong) = self.seen.lock().unwrap().clone();
        assert!(wrong.is_empty(), "{wrong:?}");
        had
    }
}

#[tokio::test]
async fn a_private_repository_is_read_with_a_token_of_the_configuration() {
    let mut lab = Lab::new("token_env = \"FORGE_TOKEN\"\nusable_by = \"everyone\"\n").await;
    let alice = lab.world.keys.alice.clone();
    // The variable is not set: there is no token, and the failure says so.
    let (repo, failed) = lab.add(&alice).await;
    assert_eq!(repo["credential"], Value::Null);
    let text = failed.to_string();
    assert!(
        text.contains("there is no credential for 127.0.0.1"),
        "{text}"
    );
    let checked = lab.check(&alice, &repo).await;
    assert_eq!(checked["access"], "refused", "{checked}");
    assert_eq!(checked["reachable"], true);
    lab.world.server.set_env("FORGE_TOKEN", lab.token.clone());
    lab.world.server.restart();
    let (repo, made) = lab.add(&alice).await;
    assert_eq!(repo["credential"], "configuration");
    Mcp::data(&made);
    let checked = lab.check(&alice, &repo).await;
    for (field, expected) in [
        ("access", json!("credential")),
        ("reachable", json!(true)),
        ("authenticated", json!(true)),
        ("credential", json!("configuration")),
        ("default_branch", json!("main")),
        ("problem", Value::Null),
    ] {
        assert_eq!(checked[field], expected, "{checked}");
    }
    // Unless the configuration says everyone, it is for administrators, and not for their client keys.
    lab.configure("token_env = \"FORGE_TOKEN\"\n");
    let shown = lab.shown();
    let (repo, failed) = lab.add(&alice).await;
    assert_eq!(repo["credential"], Value::Null);
    assert_eq!(Mcp::code(&failed), "CONFLICT");
    assert_eq!(lab.shown(), shown, "her repository is not read with it");
    let (repo, made) = lab.add(&lab.world.keys.admin).await;
    assert_eq!(repo["credential"], "configuration");
    Mcp::data(&made);
    assert!(lab.shown() > shown);
    lab.assert_nowhere();
}

#[tokio::test]
async fn a_token_can_be_written_in_the_configuration() {
    let mut lab = Lab::new("").await;
    let admin = lab.world.keys.admin.clone();
    let (repo, failed) = lab.add(&admin).await;
    assert_eq!(repo["credential"], Value::Null);
    assert_eq!(Mcp::code(&failed), "CONFLICT");
    let rules = format!("token = \"{}\"\nusable_by = \"everyone\"\n", lab.token);
    lab.configure(&rules);
    let alice = lab.world.keys.alice.clone();
    let (repo, made) = lab.add(&alice).await;
    assert_eq!(repo["credential"], "configuration");
    Mcp::data(&made);
    let checked = lab.check(&alice, &repo).await;
    assert_eq!(checked["access"], "credential", "{checked}");
    let listed = lab.rest(&alice, Method::GET, "/credentials", Value::Null);
    let listed = listed.await.1.to_string();
    assert!(!lab.is_in(listed.as_bytes()), "{listed}");
    lab.assert_nowhere();
}

#[tokio::test]
async fn the_command_line_says_which_credential_is_used_and_checks_it() {
    let mut lab = Lab::new("token_env = \"FORGE_TOKEN\"\n").await;
    let url = lab.forge.url("team/app.git");
    let cli = |lab: &Lab, arguments: &[&str]| {
        let output = lab.world.server.command().args(arguments).output().unwrap();
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(!text.contains(&lab.token), "{text}");
        (output.status.success(), text)
    };
    let field = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name));
        let value = line.map(|line| line[name.len()..].trim().to_owned());
        value.unwrap_or_default()
    };
    // Without the token the repository is added, and the check fails and says what to do.
    let (_, added) = cli(&lab, &["repo", "add", &url, "--name", "without"]);
    assert_eq!(field(&added, "credential"), "", "{added}");
    let (is_readable, checked) = cli(&lab, &["repo", "check", "without"]);
    assert!(!is_readable, "{checked}");
    assert_eq!(field(&checked, "reachable"), "yes", "{checked}");
    assert_eq!(field(&checked, "authenticated"), "no", "{checked}");
    assert!(checked.contains("wheelhouse credential set"), "{checked}");

    lab.world.server.set_env("FORGE_TOKEN", lab.token.clone());
    lab.world.server.restart();
    let (is_added, added) = cli(&lab, &["repo", "add", &url, "--name", "with"]);
    assert!(is_added, "{added}");
    assert_eq!(field(&added, "credential"), "configuration", "{added}");
    let (is_readable, checked) = cli(&lab, &["repo", "check", "with"]);
    assert!(is_readable, "{checked}");
    for (name, value) in [
        ("reachable", "yes"),
        ("authenticated", "yes"),
        ("credential", "configuration"),
        ("branch", "main"),
    ] {
        assert_eq!(field(&checked, name), value, "{checked}");
    }
}

#[tokio::test]
async fn gh_is_asked_when_the_configuration_says_so() {
    let lab = Lab::new("gh = true\n").await;
    let host = lab.forge.host();
    let gh = lab.world.server.home().join("bin/gh");
    let text = format!(
        "#!/bin/sh\n[ \"$*\" = \"auth token --hostname {host}\" ] || exit 1\nenv | grep -q WHEELHOUSE && exit 1\necho {}\n",
        lab.token
    );
    program(&gh, &text);
    let admin = &lab.world.keys.admin;
    let (repo, made) = lab.add(admin).await;
    assert_eq!(repo["credential"], "gh");
    Mcp::data(&made);
    program(&gh, "#!/bin/sh\necho canary-error >&2\nexit 1\n");
    let checked = lab.check(admin, &repo).await;
    let problem = checked["problem"].as_str().unwrap();
    assert!(problem.contains("gh has no token"), "{problem}");
    assert!(!problem.contains("canary"), "{problem}");
    let text = lab
        .client(admin)
        .call("repo_list", json!({}))
        .await
        .to_string();
    assert!(!lab.is_in(text.as_bytes()), "{text}");
}

#[tokio::test]
async fn a_stored_token_is_used_for_those_it_is_meant_for_alone() {
    let lab = Lab::new("").await;
    let keys = &lab.world.keys;
    // A member's own: for the member, not for the member's client keys, and for nobody else.
    let (status, stored) = lab.set(&keys.alice, &lab.token, "own").await;
    assert_eq!(status, 201, "{stored}");
    for (key, used) in [
        (&keys.alice, json!("own")),
        (&keys.alice_client, Value::Null),
        (&keys.bob, Value::Null),
        (&keys.admin, Value::Null),
    ] {
        let (repo, made) = lab.add(key).await;
        assert_eq!(repo["credential"], used);
        assert_eq!(made["isError"] == json!(true), used.is_null(), "{made}");
    }
    let (status, refused) = lab.set(&keys.alice, &lab.token, "everyone").await;
    assert_eq!(status, 403, "{refused}");
    // Nobody else sees it; an administrator does, without its token.
    let list = |key: String| {
        let lab = &lab;
        async move {
            lab.rest(&key, Method::GET, "/credentials", Value::Null)
                .await
                .1
        }
    };
    for (key, count) in [(&keys.alice, 1), (&keys.bob, 0), (&keys.admin, 1)] {
        let listed = list(key.clone()).await;
        assert_eq!(listed["credentials"].as_array().unwrap().len(), count);
        assert!(!listed.to_string().contains("canary"), "{listed}");
    }
    let id = stored["id"].as_str().unwrap();
    let path = format!("/credentials/{id}");
    let (status, _) = lab
        .rest(&keys.bob, Method::DELETE, &path, Value::Null)
        .await;
    assert_eq!(status, 404);
    let (status, _) = lab
        .rest(&keys.alice, Method::DELETE, &path, Value::Null)
        .await;
    assert_eq!(status, 200);
    // The server's: for administrators, or for everyone.
    for (usable_by, bobs) in [("admins", Value::Null), ("everyone", json!("server"))] {
        let (status, _) = lab.set(&keys.admin, &lab.token, usable_by).await;
        assert_eq!(status, 201);
        assert_eq!(lab.add(&keys.bob).await.0["credential"], bobs);
        let (repo, made) = lab.add(&keys.admin).await;
        assert_eq!(repo["credential"], "server");
        Mcp::data(&made);
    }
    let listed = list(keys.admin.clone()).await;
    assert_eq!(
        listed["credentials"].as_array().unwrap().len(),
        1,
        "replaced"
    );
    // A wrong one of his own comes first, and is said to be wrong.
    lab.set(&keys.bob, "wrong-token", "own").await;
    let (repo, failed) = lab.add(&keys.bob).await;
    let text = failed.to_string();
    assert!(text.contains("the credential (source: own)"), "{text}");
    let checked = lab.check(&keys.bob, &repo).await;
    let problem = checked["problem"].as_str().unwrap();
    assert!(problem.contains("refused the credential"), "{problem}");
    lab.assert_nowhere();
}

#[tokio::test]
async fn a_stored_token_is_seen_by_its_host_alone() {
    let lab = Lab::new("").await;
    let alice = lab.world.keys.alice.clone();
    let watch = Watch::begin(&lab);
    lab.set(&alice, &lab.token, "own").await;
    let (repo, made) = lab.add(&alice).await;
    let made = Mcp::data(&made);
    // An agent works in it, while the repository is fetched again.
    let client = lab.client(&alice);
    let new = json!({ "agent": "echo", "worktree": made["id"], "prompt": "say hello\nsleep 1" });
    let session = Mcp::data(&client.call("session_create", new).await);
    let agent = json!({ "sessions": [session["id"]], "timeout": 60 });
    let agent = client.call("session_wait", agent);
    let fetched = json!({ "repo": repo["id"], "name": "y" });
    let (agent, fetched) = tokio::join!(agent, client.call("worktree_create", fetched));
    Mcp::data(&agent);
    Mcp::data(&fetched);
    let had = watch.end();
    assert!(!had.is_empty(), "git was seen with it");
    println!(
        "{} requests showed the token; it was seen in {had:?}",
        lab.shown()
    );
    assert!(lab.shown() >= 4);
    let key = lab.world.server.data_dir().join("credentials.key");
    let mode = fs::metadata(&key).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    lab.assert_nowhere();
    // Nothing that a caller is told holds it.
    for path in ["/events", "/audit?limit=200", "/repos", "/credentials"] {
        let (_, told) = lab.rest(&alice, Method::GET, path, Value::Null).await;
        let text = told.to_string();
        assert!(!lab.is_in(text.as_bytes()), "{path}");
    }
    // Without the key file the database gives nothing away, and a fetch says why it fails.
    fs::remove_file(&key).unwrap();
    let checked = lab.check(&alice, &repo).await;
    let problem = checked["problem"].as_str().unwrap();
    assert!(problem.contains("store it again"), "{problem}");
}

#[tokio::test]
async fn a_token_follows_no_redirect_and_is_not_repeated() {
    let lab = Lab::new("").await;
    let alice = lab.world.keys.alice.clone();
    lab.set(&alice, &lab.token, "own").await;
    let other = GitServer::start(&lab.world.server.home().join("other"), Behaviour::default());
    lab.forge.behave(Behaviour {
        redirect: Some(format!("https://{}", other.host())),
        ..Behaviour::default()
    });
    let (_, failed) = lab.add(&alice).await;
    assert_eq!(Mcp::code(&failed), "CONFLICT");
    assert!(other.asked().is_empty(), "{:?}", other.asked());
    // A host that shows what it was sent, as git would print it.
    lab.forge.behave(Behaviour {
        echoes: true,
        ..Behaviour::default()
    });
    let before = lab.shown();
    let (repo, failed) = lab.add(&alice).await;
    assert!(lab.shown() > before);
    let checked = lab.check(&alice, &repo).await;
    assert_eq!(checked["access"], "refused");
    let (_, events) = lab.rest(&alice, Method::GET, "/events", Value::Null).await;
    let text = format!("{failed} {checked} {events}");
    assert!(!lab.is_in(text.as_bytes()), "{text}");
    lab.assert_nowhere();
}

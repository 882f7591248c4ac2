//! Directories of the server's machine: who may open which, over MCP and the command line.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use wh_testkit::git::{git, repository};

use crate::harness::{Mcp, World};

/// A server with a member, mia, who was allowed nothing yet, and directories that could be opened.
struct Place {
    world: World,
    mia: Mcp,
    mia_client: Mcp,
    root: PathBuf,
}

impl Place {
    async fn new() -> Self {
        let world = World::new().await;
        let admin = world.client(&world.keys.admin);
        Mcp::data(&admin.call("user_create", json!({ "name": "mia" })).await);
        let key = async |scope: &str| {
            let new = json!({ "user": "mia", "scope": scope, "name": scope });
            let made = Mcp::data(&admin.call("key_create", new).await);
            world.client(made["key"].as_str().unwrap())
        };
        let (mia, mia_client) = (key("full").await, key("client").await);
        let root = world.server.home().canonicalize().unwrap();
        for dir in ["allowed", "allowed2", "secret"] {
            fs::create_dir(root.join(dir)).unwrap();
            repository(&root.join(dir).join("repo"));
        }
        symlink(root.join("secret"), root.join("allowed/link")).unwrap();
        Self {
            world,
            mia,
            mia_client,
            root,
        }
    }

    /// Runs `wheelhouse user …` as the administrator.
    fn user(&self, command: &str, path: &Path) -> Value {
        let output = self
            .world
            .server
            .command()
            .args(["--json", "user", command, "mia"])
            .arg(path)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

/// Asks for a session in a directory.
async fn session(client: &Mcp, path: &Path) -> Value {
    let new = json!({ "agent": "echo", "prompt": "say here", "path": path });
    client.call("session_create", new).await
}

/// Adds a local repository.
async fn repo(client: &Mcp, path: &Path) -> Value {
    client.call("repo_add", json!({ "source": path })).await
}

/// Expects that neither a session nor a repository is opened, and that the answer does not repeat a path.
async fn refused(client: &Mcp, path: &Path) {
    for result in [session(client, path).await, repo(client, path).await] {
        assert_eq!(Mcp::code(&result), "FORBIDDEN", "{path:?}: {result}");
        let text = result.to_string();
        assert!(!text.contains(path.to_str().unwrap()), "{text}");
    }
}

#[tokio::test]
async fn a_member_opens_only_what_an_administrator_allows() {
    let place = Place::new().await;
    let (root, mia) = (&place.root, &place.mia);
    let alice = place.world.client(&place.world.keys.alice);
    let (_, worktree) = crate::worktrees::worktree(&place.world, &alice).await;
    let worktree = json!({ "worktree": worktree });
    let seen = Mcp::data(&alice.call("worktree_get", worktree).await);
    let worktree = PathBuf::from(seen["path"].as_str().unwrap());
    let data = place.world.server.data_dir();
    // Also one that does not exist: who may not open it is not told whether it does.
    let never = [
        root.join("secret/repo"),
        root.join("absent"),
        data.clone(),
        worktree.clone(),
        PathBuf::from("/etc"),
    ];
    refused(mia, &root.join("allowed/repo")).await;
    for path in &never {
        refused(mia, path).await;
    }
    let shown = place.user("allow-path", &root.join("allowed"));
    assert_eq!(shown["local_roots"], json!([root.join("allowed")]));
    Mcp::data(&session(mia, &root.join("allowed/repo")).await);
    Mcp::data(&repo(mia, &root.join("allowed/repo")).await);
    for path in &never {
        refused(mia, path).await;
    }
    refused(mia, &root.join("allowed/link/repo")).await;
    refused(mia, &root.join("allowed2/repo")).await;
    // Whoever owns it, a client key opens none.
    refused(&place.mia_client, &root.join("allowed/repo")).await;
    let shown = place.user("disallow-path", &root.join("allowed"));
    assert_eq!(shown["local_roots"], Value::Null);
    refused(mia, &root.join("allowed/repo")).await;
    // The administrator is as free as before, but for the data directory.
    let admin = place.world.client(&place.world.keys.admin);
    Mcp::data(&repo(&admin, &root.join("secret/repo")).await);
    Mcp::data(&session(&admin, root).await);
    refused(&admin, &worktree).await;
    refused(&admin, &data).await;
}

#[tokio::test]
async fn allowing_a_directory_is_for_administrators_and_recorded() {
    let place = Place::new().await;
    let allow = json!({ "user": "mia", "allow_paths": [place.root.join("secret")] });
    let refused = place.mia.call("user_update", allow.clone()).await;
    assert_eq!(Mcp::code(&refused), "FORBIDDEN");
    let admin = place.world.client(&place.world.keys.admin);
    let updated = Mcp::data(&admin.call("user_update", allow).await);
    assert_eq!(updated["local_roots"], json!([place.root.join("secret")]));
    let query = json!({ "operation": "user_update", "outcome": "ok" });
    let audit = Mcp::data(&admin.call("audit_list", query).await).to_string();
    let secret = place.root.join("secret");
    assert!(audit.contains(secret.to_str().unwrap()), "{audit}");
    for path in [
        place.world.server.data_dir(),
        place.root.join("absent"),
        "relative".into(),
    ] {
        let allow = json!({ "user": "mia", "allow_paths": [path] });
        let refused = admin.call("user_update", allow).await;
        assert!(["FORBIDDEN", "INVALID_INPUT"].contains(&Mcp::code(&refused)));
    }
}

/// A repository may lead elsewhere by its `.git` file, by objects that it borrows, and by links.
#[tokio::test]
async fn a_repository_that_reaches_outside_is_refused() {
    let place = Place::new().await;
    let (root, mia) = (&place.root, &place.mia);
    place.user("allow-path", &root.join("allowed"));
    let secret = root.join("secret/repo/.git");
    let pointer = root.join("allowed/pointer");
    fs::create_dir(&pointer).unwrap();
    fs::write(
        pointer.join(".git"),
        format!("gitdir: {}\n", secret.display()),
    )
    .unwrap();
    let borrower = repository(&root.join("allowed/borrower"));
    let objects = secret.join("objects");
    fs::write(
        borrower.join(".git/objects/info/alternates"),
        format!("{}\n", objects.display()),
    )
    .unwrap();
    let linked = repository(&root.join("allowed/linked"));
    fs::remove_dir_all(linked.join(".git/refs")).unwrap();
    symlink(secret.join("refs"), linked.join(".git/refs")).unwrap();
    for (path, code) in [
        (&pointer, "FORBIDDEN"),
        (&borrower, "INVALID_INPUT"),
        (&linked, "FORBIDDEN"),
    ] {
        let refused = repo(mia, path).await;
        assert_eq!(Mcp::code(&refused), code, "{path:?}");
        assert!(!refused.to_string().contains("secret"), "{refused}");
    }
}

#[tokio::test]
async fn a_directory_that_became_a_link_is_not_opened_again() {
    let place = Place::new().await;
    let (root, mia) = (&place.root, &place.mia);
    place.user("allow-path", &root.join("allowed"));
    let dir = root.join("allowed/work");
    fs::create_dir(&dir).unwrap();
    let made = Mcp::data(&session(mia, &dir).await);
    let wait = json!({ "sessions": [made["id"]], "timeout": 60 });
    Mcp::data(&mia.call("session_wait", wait.clone()).await);
    let stop = json!({ "session": made["id"], "action": "stop" });
    Mcp::data(&mia.call("session_manage", stop).await);
    Mcp::data(&mia.call("session_wait", wait.clone()).await);
    fs::rename(&dir, root.join("allowed/moved")).unwrap();
    symlink(root.join("secret"), &dir).unwrap();
    let resume = json!({ "session": made["id"], "action": "resume" });
    mia.call("session_manage", resume).await;
    let prompt = json!({ "session": made["id"], "prompt": "write planted.txt x", "wait": 60 });
    mia.call("session_prompt", prompt).await;
    Mcp::data(&mia.call("session_wait", wait).await);
    let list = json!({ "session": made["id"] });
    let said = Mcp::data(&mia.call("turn_list", list).await).to_string();
    assert!(said.contains("is not below a directory"), "{said}");
    assert!(!root.join("secret/planted.txt").exists());
}

/// Two users have the same repository. What one has checked out is not told to the other.
#[tokio::test]
async fn the_path_of_somebody_elses_worktree_is_not_told() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let bob = world.client(&world.keys.bob);
    let dir = repository(&world.server.home().join("project"));
    git(&dir, &["branch", "topic"]);
    let mut made = Vec::new();
    for client in [&alice, &bob] {
        let added = Mcp::data(&repo(client, &dir).await);
        made.push(json!({ "repo": added["id"], "branch": "topic" }));
    }
    let hers = Mcp::data(&alice.call("worktree_create", made[0].clone()).await);
    let path = hers["path"].as_str().unwrap();
    let refused = bob.call("worktree_create", made[1].clone()).await;
    assert_eq!(Mcp::code(&refused), "CONFLICT");
    let text = refused.to_string();
    assert!(text.contains("in another worktree"), "{text}");
    assert!(
        !text.contains(path) && !text.contains("/worktrees/"),
        "{text}"
    );
    // The checkout of the repository itself is told to whoever has the repository.
    let main = json!({ "repo": made[0]["repo"], "branch": "main" });
    let refused = alice.call("worktree_create", main).await;
    assert_eq!(Mcp::code(&refused), "CONFLICT");
    assert!(refused.to_string().contains("/project"), "{refused}");
    let other = json!({ "repo": made[1]["repo"], "name": "other" });
    let his = Mcp::data(&bob.call("worktree_create", other).await);
    wh_testkit::git::commit(Path::new(his["path"].as_str().unwrap()), "b.txt", "two\n");
    let merge = json!({ "worktree": his["id"], "into": "topic" });
    let refused = bob.call("worktree_merge", merge).await;
    assert_eq!(Mcp::code(&refused), "CONFLICT");
    assert!(!refused.to_string().contains("/worktrees/"), "{refused}");
}

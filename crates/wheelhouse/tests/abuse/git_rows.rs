//! C: git, by what callers name and by what repositories contain.

use std::{fs, os::unix::fs::symlink, path::PathBuf};

use serde_json::{Value, json};
use wh_testkit::git::{commit, git, plant_traps, repository};

use crate::people::{Mcp, World};

/// Adds a repository and returns its id.
async fn add(client: &Mcp, path: &std::path::Path) -> String {
    let source = json!({ "source": path.to_str().unwrap() });
    let repo = Mcp::data(&client.call("repo_add", source).await);
    repo["id"].as_str().unwrap().to_owned()
}

/// Makes a worktree and returns its id and path.
async fn worktree(client: &Mcp, arguments: Value) -> (String, PathBuf) {
    let made = Mcp::data(&client.call("worktree_create", arguments).await);
    let id = made["id"].as_str().unwrap().to_owned();
    let seen = Mcp::data(&client.call("worktree_get", json!({ "worktree": id })).await);
    assert_eq!(seen["state"], "ready", "{seen}");
    (id, seen["path"].as_str().unwrap().into())
}

#[tokio::test]
async fn c1_c4_c5_hostile_repository_addresses_are_refused() {
    let world = World::new().await;
    let canary = world.server.home().join("CANARY");
    let run = format!("touch {}", canary.display());
    let mut refused = 0;
    for key in [
        &world.keys.admin,
        &world.keys.alice,
        &world.keys.alice_client,
    ] {
        let client = world.client(key);
        for source in [
            format!("--upload-pack={run}"),
            "-u".to_owned(),
            "--".to_owned(),
            format!("ext::sh -c '{run}'"),
            format!("EXT::sh -c '{run}'"),
            "fd::17/foo".to_owned(),
            format!("ssh://-oProxyCommand={run}/x"),
            format!("ssh://user@-oProxyCommand={run}/x"),
            format!("-oProxyCommand={run}:x"),
            format!("git@-oProxyCommand={run}:x"),
            "https://example.org/a.git\n--upload-pack=x".to_owned(),
            "https://user:password@example.org/a.git".to_owned(),
            "https://example.org/a.git?token=x".to_owned(),
            String::new(),
        ] {
            let result = client.call("repo_add", json!({ "source": source })).await;
            let code = Mcp::code(&result).to_owned();
            assert!(
                ["INVALID_INPUT", "FORBIDDEN"].contains(&code.as_str()),
                "{source:?}: {result}"
            );
            refused += 1;
        }
    }
    // Files of the machine are a member's only where they are allowed, and by no other protocol.
    for key in [&world.keys.alice, &world.keys.alice_client] {
        for source in [
            "file:///etc",
            "/etc",
            "/",
            "git://127.0.0.1/x",
            "http://127.0.0.1/x.git",
        ] {
            let result = world
                .client(key)
                .call("repo_add", json!({ "source": source }))
                .await;
            assert_eq!(result["isError"], true, "{source}: {result}");
            refused += 1;
        }
    }
    let list = world
        .client(&world.keys.admin)
        .call("repo_list", json!({}))
        .await;
    assert_eq!(Mcp::data(&list)["repos"], json!([]));
    assert!(!canary.exists());
    println!("c1, c4, c5: {refused} addresses refused, nothing run");
}

#[tokio::test]
async fn c2_hostile_branches_and_bases_are_refused() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let dir = repository(&world.server.home().join("project"));
    let repo = add(&alice, &dir).await;
    let before = git(&dir, &["for-each-ref"]);
    let mut refused = 0;
    for name in [
        "--upload-pack=touch x",
        "-b",
        "-",
        "--output=x",
        "--help",
        "a..b",
        "a~1",
        "a^{commit}",
        "a:b",
        "@{-1}",
        "a b",
        "a\nb",
        "a.lock",
        ".hidden",
        "a//b",
        "refs/../x",
        "",
    ] {
        for field in ["branch", "base"] {
            let mut arguments = json!({ "repo": repo, "name": "x" });
            arguments[field] = json!(name);
            let result = alice.call("worktree_create", arguments).await;
            assert_eq!(result["isError"], true, "{field} {name:?}: {result}");
            refused += 1;
        }
    }
    assert_eq!(git(&dir, &["for-each-ref"]), before);
    println!("c2: {refused} branches and bases refused");
}

#[tokio::test]
async fn c7_c13_c16_c17_what_a_repository_contains_is_neither_run_nor_followed() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let dir = repository(&world.server.home().join("project"));
    let secret = world.server.home().join("secret.txt");
    fs::write(&secret, "the secret").unwrap();
    symlink(&secret, dir.join("leak")).unwrap();
    symlink(world.server.home(), dir.join("out")).unwrap();
    let modules = "[submodule \"../../x\"]\n\tpath = sub\n\turl = ext::sh -c touch\\ CANARY\n\tupdate = !touch CANARY\n";
    commit(&dir, ".gitmodules", modules);
    let repo = add(&alice, &dir).await;
    let canary = plant_traps(&dir);
    let (id, path) = worktree(&alice, json!({ "repo": repo, "name": "x" })).await;
    fs::write(path.join("a.txt"), "changed\n").unwrap();
    fs::remove_file(path.join("leak")).unwrap();
    symlink(secret.with_file_name("secret.txt"), path.join("leak2")).unwrap();
    let by_id = json!({ "worktree": id });
    let mut answers = Vec::new();
    for tool in ["worktree_get", "worktree_diff"] {
        let result = alice.call(tool, by_id.clone()).await;
        Mcp::data(&result);
        answers.push(result.to_string());
    }
    // C17: files are named below the worktree, and links are not followed.
    let prefix = format!("{}x/y", path.display());
    for file in [
        "leak2",
        "out/secret.txt",
        "../../secret.txt",
        "..%2f..%2fsecret.txt",
        "%2e%2e/%2e%2e/secret.txt",
        "/etc/passwd",
        "//etc/passwd",
        ".git/config",
        ".git",
        ".GIT/config",
        "a.txt%00",
        "a.txt/../../x",
        prefix.as_str(),
    ] {
        let uri = format!("wheelhouse://worktree/{id}/files/{file}");
        let read = alice.request("resources/read", json!({ "uri": uri })).await;
        let text = read.to_string();
        assert!(
            !text.contains("root:") && !text.contains("fsmonitor"),
            "{file}: {text}"
        );
        let is_link = file == "leak2";
        assert!(is_link || read["error"].is_object(), "{file}: {text}");
        answers.push(text);
    }
    for answer in &answers {
        assert!(!answer.contains("the secret"), "{answer}");
    }
    let uri = format!("wheelhouse://worktree/{id}/files/a.txt");
    let own = alice.request("resources/read", json!({ "uri": uri })).await;
    assert!(own.to_string().contains("changed"), "{own}");
    assert!(
        !canary.exists(),
        "{}",
        fs::read_to_string(&canary).unwrap_or_default()
    );
    assert!(!path.join("CANARY").exists() && !path.join("sub/.git").exists());
    println!(
        "c7, c13, c16, c17: {} answers, nothing run and nothing followed",
        answers.len()
    );
}

#[tokio::test]
async fn c19_c20_worktrees_lie_in_directories_that_the_server_named() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let dir = repository(&world.server.home().join("project"));
    let repo = add(&alice, &dir).await;
    let data = world.server.data_dir().canonicalize().unwrap();
    let mut made = 0;
    let long = "x".repeat(110);
    for name in [
        "..",
        "../../x",
        ".git",
        "/etc",
        "a/../../b",
        "ünï/çode",
        "CON",
        long.as_str(),
    ] {
        let result = alice
            .call("worktree_create", json!({ "repo": repo, "name": name }))
            .await;
        if result["isError"] == true {
            assert_eq!(Mcp::code(&result), "INVALID_INPUT", "{name}");
            continue;
        }
        let id = Mcp::data(&result)["id"].clone();
        let seen = Mcp::data(&alice.call("worktree_get", json!({ "worktree": id })).await);
        let path = PathBuf::from(seen["path"].as_str().unwrap());
        assert_eq!(path.canonicalize().unwrap(), path, "{name}");
        assert!(path.starts_with(&data), "{name}: {path:?}");
        let last = path.file_name().unwrap().to_str().unwrap();
        assert!(last.len() < 100 && !last.starts_with('.'), "{name}: {last}");
        made += 1;
    }
    assert!(made >= 2, "{made}");
    // A root that is a link leads nowhere else.
    let seen = Mcp::data(&alice.call("worktree_list", json!({})).await);
    let one = PathBuf::from(seen["worktrees"][0]["path"].as_str().unwrap());
    let parent = one.parent().unwrap().to_owned();
    let elsewhere = world.server.home().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::rename(&parent, parent.with_extension("away")).unwrap();
    symlink(&elsewhere, &parent).unwrap();
    let result = alice
        .call("worktree_create", json!({ "repo": repo, "name": "after" }))
        .await;
    let files = fs::read_dir(&elsewhere).unwrap().count();
    assert_eq!(files, 0, "{result}");
    println!("c19, c20: {made} worktrees in directories of the server's, none through a link");
}

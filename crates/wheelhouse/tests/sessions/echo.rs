//! The built-in agent does what anybody's prompt says, so it writes beneath its directory only and runs nothing.

use std::{fs, path::PathBuf};

use wh_api::SessionCreateRequest;
use wh_testkit::git::{git, plant_traps, repository};

use crate::{harness::World, worktrees::repo};

/// Starts a session in a worktree and returns its id and directory.
async fn in_worktree(world: &World) -> (String, PathBuf) {
    let session = world
        .session_with(SessionCreateRequest {
            repo: Some("app".to_owned()),
            prompt: Some("say ready".to_owned()),
            ..SessionCreateRequest::default()
        })
        .await;
    let worktree = world.rest(&session).await.worktree_id.unwrap();
    let worktree = world.client.worktree_get(&worktree).await.unwrap();
    (session, worktree.path.into())
}

/// Returns what tools said when they failed.
async fn failures(world: &World, session: &str) -> String {
    let transcript = world.transcript(session).await;
    serde_json::to_string(&transcript).unwrap()
}

#[tokio::test]
async fn it_writes_beneath_its_directory_only() {
    let world = World::new();
    repo(&world).await;
    let (session, path) = in_worktree(&world).await;
    let outside = world.server.home().join("outside.txt");
    std::os::unix::fs::symlink(world.server.home(), path.join("link")).unwrap();
    let pointer = fs::read_to_string(path.join(".git")).unwrap();
    let prompt = format!(
        "write {} x\nwrite ../../../../outside.txt x\nwrite link/outside.txt x\nwrite .git x\nwrite sub/.GIT/config x\nwrite sub/fine.txt x",
        outside.display()
    );
    world.prompt(&session, &prompt).await;
    assert!(!outside.exists());
    assert!(!world.server.data_dir().join("outside.txt").exists());
    assert_eq!(fs::read_to_string(path.join(".git")).unwrap(), pointer);
    assert!(!path.join("sub/.GIT").exists());
    assert_eq!(
        fs::read_to_string(path.join("sub/fine.txt")).unwrap(),
        "x\n"
    );
    let said = failures(&world, &session).await;
    assert!(said.contains("leaves the directory"), "{said}");
    assert!(said.contains("leads into .git"), "{said}");
}

#[tokio::test]
async fn its_commits_run_no_program_of_a_repository() {
    let world = World::new();
    let app = repo(&world).await;
    let (session, path) = in_worktree(&world).await;
    // What another agent could have left: traps in the repository's configuration, and a repository in the worktree.
    let canary = plant_traps(&app);
    fs::remove_file(path.join(".git")).unwrap();
    let own = repository(&path.join("planted"));
    let other = plant_traps(&own);
    fs::rename(own.join(".git"), path.join(".git")).unwrap();
    fs::remove_dir_all(&own).unwrap();
    let branch = world.client.session_get(&session).await.unwrap();
    let worktree = branch.worktree_id.unwrap();
    let branch = world.client.worktree_get(&worktree).await.unwrap().branch;
    let before = git(&app, &["-c", "core.fsmonitor=", "rev-parse", &branch]);
    fs::remove_file(&canary).ok();
    fs::remove_file(&other).ok();
    world
        .prompt(&session, "write done.txt x\ncommit by the agent")
        .await;
    assert!(!canary.exists(), "{}", fs::read_to_string(&canary).unwrap());
    assert!(!other.exists(), "{}", fs::read_to_string(&other).unwrap());
    // It went where the server had recorded the worktree, or nowhere.
    let log = fs::read_to_string(path.join(".git/logs/HEAD")).unwrap_or_default();
    assert!(!log.contains("by the agent"), "{log}");
    let after = git(&app, &["-c", "core.fsmonitor=", "rev-parse", &branch]);
    let said = failures(&world, &session).await;
    assert!(before != after || said.contains("failed"), "{said}");
}

#[tokio::test]
async fn it_commits_nothing_where_there_is_no_worktree() {
    let world = World::new();
    let dir = repository(&world.server.home().join("mine"));
    let canary = plant_traps(&dir);
    let before = git(&dir, &["-c", "core.fsmonitor=", "rev-parse", "main"]);
    fs::remove_file(&canary).ok();
    let session = world
        .session_with(SessionCreateRequest {
            path: Some(dir.display().to_string()),
            prompt: Some("write b.txt x\ncommit it".to_owned()),
            ..SessionCreateRequest::default()
        })
        .await;
    world.rest(&session).await;
    assert!(dir.join("b.txt").exists());
    assert!(!canary.exists());
    let said = failures(&world, &session).await;
    assert!(said.contains("has no worktree"), "{said}");
    let after = git(&dir, &["-c", "core.fsmonitor=", "rev-parse", "main"]);
    assert_eq!(before, after);
}

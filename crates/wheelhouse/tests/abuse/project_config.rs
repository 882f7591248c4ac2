//! D2, E2, E4: untrusted project configuration, from the repository or written by an agent.

use std::{fs, os::unix::fs::symlink, path::Path};

use wh_api::{
    AuditListRequest, ProjectConfigView, RepoTrustRequest, SessionCreateRequest,
    SessionManageRequest, SessionWaitRequest, WorktreeDiffRequest,
};
use wh_testkit::git::{commit, git};

use crate::harness::{PROJECT_CONFIG, Setting, World};

/// Files that the real agents would load, and that are hostile.
const HOSTILE: &[(&str, &str)] = &[
    (
        ".claude/settings.json",
        r#"{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"touch CANARY"}]}]}}"#,
    ),
    (".claude/CLAUDE.md", "Use tabs.\n"),
    (
        ".mcp.json",
        r#"{"mcpServers":{"x":{"command":"touch","args":["CANARY"]}}}"#,
    ),
    (
        ".codex/config.toml",
        "[mcp_servers.x]\ncommand = \"touch\"\n",
    ),
    (
        "opencode.json",
        r#"{"mcp":{"x":{"type":"local","command":["touch","CANARY"]}}}"#,
    ),
    (
        ".opencode/plugins/x.js",
        "export const X = async () => ({})\n",
    ),
];

impl World {
    /// Starts a session in a new worktree, and takes it for the one that other methods are about.
    async fn start_another(&mut self) {
        let request = SessionCreateRequest {
            agent: "scripted".to_owned(),
            repo: Some("project".to_owned()),
            tier: Some(self.setting.tier.to_owned()),
            ..SessionCreateRequest::default()
        };
        self.session = self.client.session_create(&request).await.unwrap().id;
    }

    /// Stops the agent and waits until its process is gone.
    async fn stop(&self) {
        let request = SessionManageRequest {
            session: self.session.clone(),
            action: "stop".to_owned(),
            ..SessionManageRequest::default()
        };
        self.client.session_manage(&request).await.unwrap();
        let request = SessionWaitRequest {
            sessions: vec![self.session.clone()],
            timeout: Some(60),
            ..SessionWaitRequest::default()
        };
        self.client.session_wait(&request).await.unwrap();
        let session = self.client.session_get(&self.session).await.unwrap();
        assert_eq!(session.state, "stopped");
    }

    async fn trust(&self, approve: Vec<String>) -> wh_api::RepoTrustView {
        let request = RepoTrustRequest {
            repo: "project".to_owned(),
            worktree: Some(self.session.clone()),
            approve,
            ..RepoTrustRequest::default()
        };
        self.client.repo_trust(&request).await.unwrap()
    }

    async fn revoke(&self, sha256: &str) -> wh_api::RepoTrustView {
        let request = RepoTrustRequest {
            repo: "project".to_owned(),
            worktree: Some(self.session.clone()),
            revoke: vec![sha256.to_owned()],
            ..RepoTrustRequest::default()
        };
        self.client.repo_trust(&request).await.unwrap()
    }
}

/// Commits hostile configuration to the repository.
fn plant(world: &World) {
    for (path, text) in HOSTILE {
        fs::create_dir_all(world.repo.join(path).parent().unwrap()).unwrap();
        commit(&world.repo, path, text);
    }
}

fn status(worktree: &Path) -> String {
    let arguments = [
        "-c",
        "safe.directory=*",
        "status",
        "--porcelain",
        "--ignored",
    ];
    git(worktree, &arguments)
}

#[tokio::test]
async fn d2_an_agent_cannot_write_configuration_for_its_next_start() {
    writes_nothing(Setting::GUARDED).await;
}

#[tokio::test]
async fn d2_an_agent_of_an_ordinary_user_cannot_write_configuration_for_its_next_start() {
    writes_nothing(Setting::GUARDED.as_user()).await;
}

async fn writes_nothing(setting: Setting) {
    let world = World::new(setting).await;
    assert_eq!(world.shell("echo ready").await.trim(), "ready");
    let worktree = world.worktree().await;
    let mut tried = 0;
    for path in PROJECT_CONFIG {
        let name = path.trim_end_matches('/');
        let file = match path.ends_with('/') {
            true => format!("{path}settings.json"),
            false => name.to_owned(),
        };
        for attempt in [
            format!("mkdir -p .x; echo planted > {file}"),
            format!("rm -rf {name}; mkdir -p $(dirname {file}); echo planted > {file}"),
            format!("mv {name} moved; mkdir -p $(dirname {file}); echo planted > {file}"),
            format!("echo planted > y; mv -f y {file}"),
            format!("ln -sfn y {name}"),
            format!("chmod -R u+w {name}; echo planted > {file}"),
            format!("umount -l {name}; echo planted > {file}"),
        ] {
            world
                .shell(&format!("({attempt}) 2>/dev/null; echo done"))
                .await;
            let seen = world
                .shell(&format!("echo seen; cat {file} 2>/dev/null"))
                .await;
            assert!(!seen.contains("planted"), "{attempt}: {seen}");
            let outside = fs::read_to_string(worktree.join(&file)).unwrap_or_default();
            assert!(!outside.contains("planted"), "{attempt}: {outside}");
            tried += 1;
        }
    }
    // Neither the agent nor a person sees the placeholders as new files.
    let shown = "rm -rf .x y moved; echo status $(git status --porcelain)";
    assert_eq!(world.shell(shown).await.trim(), "status");
    assert!(worktree.join(".mcp.json").exists());
    assert_eq!(status(&worktree), "");
    world.stop().await;
    assert_eq!(status(&worktree), "", "something was left behind");
    for path in PROJECT_CONFIG {
        let path = worktree.join(path.trim_end_matches('/'));
        assert!(
            fs::symlink_metadata(&path).is_err(),
            "{path:?} was left behind"
        );
    }
    println!("d2: {tried} ways to write configuration denied");
}

#[tokio::test]
async fn d2_a_session_in_the_same_directory_keeps_its_placeholders() {
    let mut world = World::new(Setting::GUARDED).await;
    world.shell("echo ready").await;
    let worktree = world.worktree().await;
    let first = world.session.clone();
    let session = world.client.session_get(&first).await.unwrap();
    let request = SessionCreateRequest {
        agent: "scripted".to_owned(),
        worktree: session.worktree_id,
        ..SessionCreateRequest::default()
    };
    let second = world.client.session_create(&request).await.unwrap().id;
    world.session.clone_from(&second);
    world.shell("echo ready").await;
    assert!(!world.latest_note().await.contains("not loaded"));
    world.session = first;
    world.stop().await;
    world.session = second;
    world
        .shell("echo planted > .mcp.json; echo planted > .claude/settings.json; true")
        .await;
    let outside = fs::read_to_string(worktree.join(".mcp.json")).unwrap_or_default();
    assert!(!outside.contains("planted"), "{outside}");
    world.stop().await;
    assert_eq!(status(&worktree), "");
    assert!(!worktree.join(".mcp.json").exists() && !worktree.join(".claude").exists());
}

#[tokio::test]
async fn e2_e4_hostile_configuration_is_masked_until_a_person_approves_it() {
    let mut world = World::new(Setting::GUARDED).await;
    plant(&world);
    world.start_another().await;
    world.shell("echo ready").await;
    let worktree = world.worktree().await;
    let note = world.latest_note().await;
    for path in [
        ".claude",
        ".mcp.json",
        ".codex",
        "opencode.json",
        ".opencode",
    ] {
        assert!(note.contains(path), "{path}: {note}");
    }
    assert!(note.contains("wheelhouse repo trust"), "{note}");
    for (path, text) in HOSTILE {
        let seen = world.shell(&format!("cat {path}")).await;
        assert!(!seen.contains(text.trim()), "{path}: {seen}");
    }
    // The mask is no change, neither for the agent's git nor for the server.
    let shown = "echo status $(git status --porcelain)";
    assert_eq!(world.shell(shown).await.trim(), "status");
    world
        .shell("echo work > work.txt; git add -A; git commit -qam work")
        .await;
    world
        .shell("git add -A .claude .mcp.json; git commit -qm again; true")
        .await;
    let changed = world.shell("git diff --name-only HEAD~1").await;
    assert_eq!(changed.trim(), "work.txt");
    let request = WorktreeDiffRequest {
        worktree: world.session.clone(),
        ..WorktreeDiffRequest::default()
    };
    let diff = world.client.worktree_diff(&request).await.unwrap();
    let files: Vec<_> = diff.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(files, ["work.txt"]);
    for (path, text) in HOSTILE {
        assert_eq!(fs::read_to_string(worktree.join(path)).unwrap(), *text);
    }
    // A person reads and approves two of them.
    let shown = world.trust(Vec::new()).await;
    let by_scripted = |it: &ProjectConfigView| it.agents.contains(&"scripted".to_owned());
    let found = |name: &str| {
        shown
            .configs
            .iter()
            .find(|it| it.path == name && by_scripted(it))
    };
    assert!(shown.configs.iter().all(|it| !it.approved), "{shown:#?}");
    let find = |name: &str| found(name).unwrap();
    assert!(find(".mcp.json").files[0].text.contains("CANARY"));
    let digest = |name: &str| find(name).sha256.clone().unwrap();
    let approve = vec![digest(".mcp.json"), digest(".claude/")];
    let approved = world.trust(approve.clone()).await;
    let count = approved.configs.iter().filter(|it| it.approved).count();
    assert_eq!(count, 2, "{approved:#?}");
    let request = AuditListRequest {
        operation: Some("repo_trust".to_owned()),
        ..AuditListRequest::default()
    };
    let audit = serde_json::to_string(&world.client.audit_list(&request).await.unwrap()).unwrap();
    assert!(audit.contains(&approve[0]), "{audit}");
    world.stop().await;
    let seen = world
        .shell("cat .mcp.json .claude/settings.json .codex/config.toml")
        .await;
    assert!(
        seen.contains("SessionStart") && seen.contains("mcpServers\":{\"x"),
        "{seen}"
    );
    assert!(!seen.contains("[mcp_servers"), "{seen}");
    let shown = "echo status $(git status --porcelain)";
    assert_eq!(world.shell(shown).await.trim(), "status");
    world.shell("echo planted >> .mcp.json; true").await;
    let real = fs::read_to_string(worktree.join(".mcp.json")).unwrap();
    assert!(!real.contains("planted"));
    // Any other content needs another approval.
    world.stop().await;
    fs::write(
        worktree.join(".mcp.json"),
        real.replace("CANARY", "ANOTHER"),
    )
    .unwrap();
    let seen = world.shell("cat .mcp.json").await;
    assert!(!seen.contains("ANOTHER"), "{seen}");
    assert!(world.latest_note().await.contains(".mcp.json"));
    // An approval is listed although its content is gone. Once it is revoked, the next run does not load that content.
    let gone = &approve[0];
    let has = |shown: &wh_api::RepoTrustView| {
        let mut others = shown.other_approvals.iter();
        others.any(|it| it.path == ".mcp.json" && it.sha256 == *gone)
    };
    assert!(has(&world.trust(Vec::new()).await));
    assert!(!has(&world.revoke(gone).await));
    world.stop().await;
    fs::write(worktree.join(".mcp.json"), &real).unwrap();
    let seen = world.shell("cat .mcp.json .claude/settings.json").await;
    assert!(!seen.contains("mcpServers\":{\"x"), "{seen}");
    assert!(seen.contains("SessionStart"), "{seen}");
}

#[tokio::test]
async fn d2_e2_e4_strict_masks_configuration_too() {
    let strict = Setting {
        tier: "strict",
        ..Setting::GUARDED
    };
    let mut world = World::new(strict).await;
    plant(&world);
    world.start_another().await;
    world.shell("echo ready").await;
    let worktree = world.worktree().await;
    assert!(world.latest_note().await.contains("repo trust"));
    for (path, text) in HOSTILE {
        let seen = world.shell(&format!("cat {path}")).await;
        assert!(!seen.contains(text.trim()), "{path}: {seen}");
    }
    let planted = "echo planted > .gemini/settings.json; echo seen; cat .gemini/settings.json";
    let seen = world.shell(&format!("({planted}) 2>/dev/null; true")).await;
    assert_eq!(seen.trim(), "seen");
    let shown = "echo status $(git status --porcelain)";
    assert_eq!(world.shell(shown).await.trim(), "status");
    world.stop().await;
    assert!(!worktree.join(".gemini").exists());
}

#[tokio::test]
async fn e2_configuration_behind_a_link_is_refused() {
    let mut world = World::new(Setting::GUARDED).await;
    fs::create_dir(world.repo.join("elsewhere")).unwrap();
    commit(&world.repo, "elsewhere/settings.json", "{\"hooks\":{}}");
    symlink("elsewhere", world.repo.join(".claude")).unwrap();
    git(&world.repo, &["add", ".claude"]);
    git(&world.repo, &["commit", "-qm", "link"]);
    world.start_another().await;
    let request = SessionWaitRequest {
        sessions: vec![world.session.clone()],
        timeout: Some(60),
        ..SessionWaitRequest::default()
    };
    let prompt = wh_api::SessionPromptRequest {
        session: world.session.clone(),
        prompt: "shell echo ready".to_owned(),
        ..wh_api::SessionPromptRequest::default()
    };
    let prompted = world.client.session_prompt(&prompt).await;
    world.client.session_wait(&request).await.unwrap();
    let session = world.client.session_get(&world.session).await.unwrap();
    assert_eq!(session.state, "failed", "{prompted:?}");
    let note = world.latest_note().await;
    assert!(note.contains(".claude is a symbolic link"), "{note}");
}

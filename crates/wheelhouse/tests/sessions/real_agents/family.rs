//! One agent that has another work for it: Claude Code spawns Codex, and is told when it is done.

use std::{path::Path, time::Duration};

use serde_json::json;
use wh_api::{PolicyInput, RepoAddRequest, SessionCreateRequest, SessionView};
use wh_testkit::model::ModelServer;

use super::{place, table};
use crate::harness::World;

/// How long the server is away.
const AWAY: Duration = Duration::from_secs(1);

struct Family {
    world: World,
    parent: String,
    _model: ModelServer,
}

pub(super) async fn is_told_what_its_child_did(programs: &Path) {
    let family = Family::prepare(programs).await;
    family.world.prompt(&family.parent, "DELEGATE").await;
    family.ends_well().await;
}

pub(super) async fn is_told_once_though_the_server_is_killed(programs: &Path) {
    let mut family = Family::prepare(programs).await;
    family.world.send(&family.parent, "DELEGATE AND TALK").await;
    let done = async || {
        let child = family.child().await;
        child.is_some_and(|child| child.last_words.is_some() && child.state == "idle")
    };
    family.world.until("the child is done", done).await;
    // The parent still talks, so that nothing can have been delivered.
    assert_eq!(family.world.turns(&family.parent).await.len(), 1);
    family.world.crash(AWAY).await;
    family.ends_well().await;
}

/// What the model says to the two of them.
fn script() -> String {
    let ours = format!("{}session_spawn", table::CLAUDE_CODE.our_tools);
    let spawn =
        json!({"tool": ours, "args": {"prompt": "WRITE IT", "agent": "codex", "callback": true}});
    let patch = "*** Begin Patch\n*** Add File: child.txt\n+by the child\n*** End Patch\n";
    let write = json!({"tool": "apply_patch", "args": {"input": patch}});
    let talk = json!({"text": "word", "repeat": 800, "delay_ms": 20});
    json!([
        {"match": "^DELEGATE$", "turns": [spawn, {"text": "delegated"}]},
        {"match": "^DELEGATE AND TALK$", "turns": [spawn, talk]},
        {"match": "^WRITE IT$", "turns": [write, {"text": "written below"}]},
        {"match": "> written below", "turns": [{"text": "my child is done"}]},
    ])
    .to_string()
}

impl Family {
    async fn prepare(programs: &Path) -> Self {
        let agents = [&table::CLAUDE_CODE, &table::CODEX];
        let (model, world) = place::server(&agents, &script(), programs).await;
        let repo = RepoAddRequest {
            source: place::repository(&world.server).display().to_string(),
            name: Some("app".to_owned()),
            ..RepoAddRequest::default()
        };
        world.client.repo_add(&repo).await.unwrap();
        let request = SessionCreateRequest {
            agent: "claude-code".to_owned(),
            repo: Some("app".to_owned()),
            policy: Some(PolicyInput {
                default: Some("allow".to_owned()),
                ..PolicyInput::default()
            }),
            ..SessionCreateRequest::default()
        };
        let parent = world.client.session_create(&request).await.unwrap().id;
        Self {
            world,
            parent,
            _model: model,
        }
    }

    async fn child(&self) -> Option<SessionView> {
        let tree = self.world.client.session_tree(&self.parent).await.unwrap();
        let child = tree.tree.into_iter().find(|it| it.depth == 1)?;
        Some(self.world.get(&child.id).await)
    }

    /// The parent is told once, and says so; the child has worked in files of its own.
    async fn ends_well(&self) {
        let told = async || {
            self.world
                .said(&self.parent)
                .await
                .contains("my child is done")
        };
        self.world.until("the parent is told", told).await;
        self.world.rest(&self.parent).await;
        let turns = self.world.turns(&self.parent).await;
        assert_eq!(turns.len(), 2, "{turns:#?}");
        assert!(
            turns[1].prompt.contains("has finished its turn"),
            "{turns:#?}"
        );
        let child = self.child().await.unwrap();
        assert_eq!(
            (child.agent.as_str(), child.state.as_str()),
            ("codex", "idle")
        );
        let parent = self.world.get(&self.parent).await;
        assert_ne!(child.worktree_id, parent.worktree_id);
        let place = async |session: &SessionView| {
            let worktree = session.worktree_id.as_ref().unwrap();
            let worktree = self.world.client.worktree_get(worktree).await.unwrap();
            Path::new(&worktree.path).join("child.txt")
        };
        assert!(place(&child).await.exists() && !place(&parent).await.exists());
        let asked = self.world.asked(&child.id).await;
        let open = asked.iter().filter(|it| it.state == "pending");
        assert_eq!(open.count(), 0, "{asked:#?}");
    }
}

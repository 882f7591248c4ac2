//! Sessions that begin sessions: where children work, what they may do, and how many there can be.

use futures::future::join_all;
use serde_json::json;
use wh_api::{
    BudgetInput, ConfigSetRequest, PolicyInput, PolicyRuleInput, SessionCreateRequest,
    SessionForkRequest, SessionSpawnRequest, SessionView,
};
use wh_client::ClientError;

use crate::{
    harness::{World, prompt_of},
    worktrees::repo,
};

fn child_of(parent: &str, prompt: &str) -> SessionSpawnRequest {
    SessionSpawnRequest {
        parent: Some(parent.to_owned()),
        prompt: prompt.to_owned(),
        ..SessionSpawnRequest::default()
    }
}

async fn children(world: &World, parent: &str) -> Vec<SessionView> {
    let tree = world.client.session_tree(parent).await.unwrap();
    let mut children = Vec::new();
    for node in tree.tree.iter().filter(|it| it.depth == 1) {
        children.push(world.get(&node.id).await);
    }
    children
}

#[tokio::test]
async fn an_agent_begins_another_and_reads_what_came_of_it() {
    let world = World::new();
    let parent = world.session().await;
    let done = world.prompt(&parent, "spawn say from below").await;
    assert_eq!(done.turn.state, "completed");
    let [child] = &children(&world, &parent).await[..] else {
        panic!("one child");
    };
    assert_eq!(child.parent_id.as_deref(), Some(parent.as_str()));
    assert_eq!(child.agent, "echo");
    let rested = world.rest(&child.id).await;
    assert_eq!(rested.state, "idle");
    assert_eq!(world.said(&child.id).await.trim(), "from below");
    // Without a callback the parent is left alone.
    assert_eq!(world.turns(&parent).await.len(), 1);
    let spawn = json!({ "prompt": "say waited for", "wait": 60 });
    world
        .prompt(&parent, &format!("call session_spawn {spawn}"))
        .await;
    assert!(world.said(&parent).await.contains("waited for"));
}

#[tokio::test]
async fn a_child_works_on_a_branch_that_begins_at_its_parents() {
    let world = World::new();
    repo(&world).await;
    let request = SessionCreateRequest {
        repo: Some("app".to_owned()),
        ..SessionCreateRequest::default()
    };
    let parent = world.session_with(request).await;
    world
        .prompt(&parent, "write a.txt of the parent\ncommit first")
        .await;
    let mut own = child_of(&parent, "write b.txt of the child\ncommit second");
    own.wait = Some(60);
    let own = world.client.session_spawn(&own).await.unwrap();
    assert_eq!(own.turn.state, "completed", "{own:?}");
    let mut shared = child_of(&parent, "write c.txt beside\ncommit third");
    (shared.wait, shared.workspace) = (Some(60), Some("shared".to_owned()));
    let shared = world.client.session_spawn(&shared).await.unwrap();
    let (parent, own, shared) = (
        world.get(&parent).await,
        world.get(&own.session).await,
        world.get(&shared.session).await,
    );
    assert_eq!(parent.worktree_id, shared.worktree_id);
    assert_ne!(parent.worktree_id, own.worktree_id);
    let place = async |session: &SessionView| {
        let id = session.worktree_id.clone().unwrap();
        let worktree = world.client.worktree_get(&id).await.unwrap();
        std::path::PathBuf::from(worktree.path)
    };
    let (above, below) = (place(&parent).await, place(&own).await);
    assert!(below.join("a.txt").exists() && below.join("b.txt").exists());
    assert!(!above.join("b.txt").exists() && above.join("c.txt").exists());
}

#[tokio::test]
async fn a_hundred_at_once_do_not_pass_a_limit() {
    let world = World::new();
    let set = async |key: &str, value: i64| {
        let request = ConfigSetRequest {
            key: key.to_owned(),
            value: Some(value.into()),
            ..ConfigSetRequest::default()
        };
        world.client.config_set(&request).await.unwrap();
    };
    set("spawn.per_minute_max", 100).await;
    set("spawn.children_max", 7).await;
    let parent = world.session().await;
    let spawns = (0..100).map(|n| {
        let (client, request) = (world.client.clone(), child_of(&parent, &format!("say {n}")));
        async move { client.session_spawn(&request).await }
    });
    let spawned = join_all(spawns).await;
    let refused = spawned.iter().filter_map(|it| it.as_ref().err());
    for error in refused {
        let ClientError::Refused { error, .. } = error else {
            panic!("{error:?}");
        };
        assert_eq!(error.code, "LIMIT_EXCEEDED");
    }
    let begun = spawned.iter().filter(|it| it.is_ok()).count();
    assert_eq!(begun, 7);
    assert_eq!(children(&world, &parent).await.len(), 7);
    // How deep, how many in all and how fast are counted too.
    set("spawn.children_max", 100).await;
    set("spawn.per_minute_max", 8).await;
    world
        .client
        .session_spawn(&child_of(&parent, "say 8"))
        .await
        .unwrap();
    let too_fast = world
        .client
        .session_spawn(&child_of(&parent, "say 9"))
        .await;
    assert!(
        too_fast
            .unwrap_err()
            .to_string()
            .contains("within a minute")
    );
    set("spawn.per_minute_max", 100).await;
    set("spawn.tree_max", 9).await;
    let too_many = world
        .client
        .session_spawn(&child_of(&parent, "say 9"))
        .await;
    assert!(too_many.unwrap_err().to_string().contains("in a tree"));
    set("spawn.tree_max", 50).await;
    set("spawn.depth_max", 1).await;
    let child = &children(&world, &parent).await[0].id;
    let too_deep = world.client.session_spawn(&child_of(child, "say 10")).await;
    assert!(too_deep.unwrap_err().to_string().contains("levels"));
}

#[tokio::test]
async fn a_child_uses_up_its_parents_budget() {
    let world = World::new();
    let budget = BudgetInput {
        turns: Some(3),
        ..BudgetInput::default()
    };
    let request = SessionCreateRequest {
        budget: Some(budget),
        ..SessionCreateRequest::default()
    };
    let parent = world.session_with(request).await;
    world.prompt(&parent, "say one").await;
    let mut spawn = child_of(&parent, "say two");
    spawn.wait = Some(60);
    spawn.budget = Some(BudgetInput {
        turns: Some(50),
        ..BudgetInput::default()
    });
    let child = world.client.session_spawn(&spawn).await.unwrap().session;
    assert_eq!(world.get(&child).await.budget.turns, Some(2));
    world.prompt(&child, "say three").await;
    // Three turns are used: one by the parent and two by its child.
    let spent = world.client.session_spawn(&spawn).await.unwrap_err();
    assert!(spent.to_string().contains("budget"), "{spent}");
    let request = prompt_of(&parent, "say four");
    let refused = world.client.session_prompt(&request).await;
    assert!(refused.unwrap_err().to_string().contains("budget"));
}

#[tokio::test]
async fn a_child_may_not_do_what_its_parent_may_not() {
    let world = World::new();
    let rule = |kind: &str| PolicyRuleInput {
        kinds: vec![kind.to_owned()],
        ..PolicyRuleInput::default()
    };
    let policy = PolicyInput {
        deny: vec![rule("execute")],
        ..PolicyInput::default()
    };
    let request = SessionCreateRequest {
        policy: Some(policy),
        role: Some("general".to_owned()),
        ..SessionCreateRequest::default()
    };
    let parent = world.session_with(request).await;
    world.rest(&parent).await;
    let mut spawn = child_of(&parent, "say hello");
    spawn.policy = Some(PolicyInput {
        default: Some("allow".to_owned()),
        ..PolicyInput::default()
    });
    let child = world.client.session_spawn(&spawn).await.unwrap().session;
    let policy = world.get(&child).await.policy;
    assert_eq!(policy.default.as_deref(), Some("ask"));
    assert_eq!(policy.deny, [rule("execute")]);
    // A session reaches its descendants, not those beside or above it.
    world.rest(&child).await;
    let up = json!({ "session": parent, "prompt": "say up" });
    world
        .prompt(&child, &format!("call session_prompt {up}"))
        .await;
    assert!(world.said(&child).await.contains("NOT_FOUND"));
    let beside = json!({ "parent": parent, "prompt": "say beside" });
    world
        .prompt(&child, &format!("call session_spawn {beside}"))
        .await;
    assert_eq!(children(&world, &parent).await.len(), 1);
}

#[tokio::test]
async fn a_fork_has_the_files_that_were_not_committed_then_and_a_title_of_its_own() {
    let world = World::new();
    repo(&world).await;
    let request = SessionCreateRequest {
        repo: Some("app".to_owned()),
        title: Some("Colours".to_owned()),
        ..SessionCreateRequest::default()
    };
    let source = world.session_with(request).await;
    let first = "write one.txt 1\ncommit one\nwrite one.txt changed\nwrite new/two.txt 2";
    world.prompt(&source, first).await;
    world
        .prompt(&source, "write one.txt later\nwrite three.txt 3")
        .await;
    let fork = async |session: &str, leave: bool| {
        let request = SessionForkRequest {
            session: session.to_owned(),
            turn: Some(1_u64.into()),
            leave_uncommitted: leave.then_some(true),
            ..SessionForkRequest::default()
        };
        let fork = world.client.session_fork(&request).await.unwrap();
        world.until_state(&fork.id, "idle").await;
        let worktree = fork.worktree_id.clone().unwrap();
        let worktree = world.client.worktree_get(&worktree).await.unwrap();
        (fork, std::path::PathBuf::from(&worktree.path), worktree)
    };
    let read = |path: &std::path::Path| std::fs::read_to_string(path).ok();

    let (taken, path, worktree) = fork(&source, false).await;
    let from = taken.forked_from.as_ref().unwrap();
    assert_eq!(
        (from.session_id.as_str(), from.turn),
        (&*world.get(&source).await.id, 1)
    );
    assert_eq!(from.uncommitted.as_deref(), Some("taken"));
    assert_eq!(read(&path.join("one.txt")).as_deref(), Some("changed\n"));
    assert_eq!(read(&path.join("new/two.txt")).as_deref(), Some("2\n"));
    assert_eq!(read(&path.join("three.txt")), None);
    let status = worktree.status.unwrap();
    assert_eq!(status.unstaged, ["one.txt"]);
    assert_eq!(status.untracked, ["new/two.txt"]);
    assert_eq!(status.staged_count, 0);
    let seen = world.get(&taken.id).await;
    assert_eq!(seen.forked_from.unwrap().turn, 1);

    let (left, path, _) = fork(&source, true).await;
    assert_eq!(
        left.forked_from.unwrap().uncommitted.as_deref(),
        Some("left")
    );
    assert_eq!(read(&path.join("one.txt")).as_deref(), Some("1\n"));
    assert_eq!(read(&path.join("new/two.txt")), None);

    // A fork has copies of the turns; their files are those of the session in which they happened.
    let (again, path, _) = fork(&taken.id, false).await;
    assert_eq!(read(&path.join("one.txt")).as_deref(), Some("changed\n"));
    let titles = [taken.title, left.title, again.title];
    assert_eq!(
        titles,
        [
            "Colours (fork)",
            "Colours (fork 2)",
            "Colours (fork) (fork)"
        ]
    );
}

#[tokio::test]
async fn a_fork_goes_on_from_a_turn_with_its_words_and_files() {
    let world = World::new();
    repo(&world).await;
    let request = SessionCreateRequest {
        repo: Some("app".to_owned()),
        ..SessionCreateRequest::default()
    };
    let source = world.session_with(request).await;
    let teal = "say the word is teal\nwrite one.txt 1\ncommit one";
    world.prompt(&source, teal).await;
    let ochre = "say the word is ochre\nwrite two.txt 2\ncommit two";
    world.prompt(&source, ochre).await;
    let request = SessionForkRequest {
        session: source.clone(),
        turn: Some(1_u64.into()),
        prompt: Some("say forked".to_owned()),
        ..SessionForkRequest::default()
    };
    let fork = world.client.session_fork(&request).await.unwrap();
    world.rest(&fork.id).await;
    let said = world.said(&fork.id).await;
    // The built-in agent says back every line that is no command, and so the conversation it was told.
    assert!(said.contains("Assistant: the word is teal"), "{said}");
    assert!(said.contains("forked") && !said.contains("ochre"), "{said}");
    let turns = world.turns(&fork.id).await;
    assert_eq!(turns.len(), 2, "{turns:?}");
    assert_eq!(turns[1].prompt, "say forked");
    let worktree = world.get(&fork.id).await.worktree_id.unwrap();
    let worktree = world.client.worktree_get(&worktree).await.unwrap();
    let path = std::path::PathBuf::from(worktree.path);
    assert!(path.join("one.txt").exists() && !path.join("two.txt").exists());
    // The next prompt is told as it is, and the source has not changed.
    world.prompt(&fork.id, "say after").await;
    assert_eq!(world.turns(&source).await.len(), 2);
    let teals = |said: &str| said.matches("the word is teal").count();
    assert_eq!(teals(&world.said(&fork.id).await), teals(&said));
    let missing = SessionForkRequest {
        turn: Some(9_u64.into()),
        ..request
    };
    let refused = world.client.session_fork(&missing).await.unwrap_err();
    assert!(refused.to_string().contains("turn"), "{refused}");
}

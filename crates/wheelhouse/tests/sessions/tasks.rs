//! Agents and the list of tasks that a tree of sessions shares.

use wh_api::{TaskListRequest, TaskUpdateRequest, TaskView};

use crate::harness::World;

async fn tasks(world: &World, session: &str) -> Vec<TaskView> {
    let request = TaskListRequest {
        session: Some(session.to_owned()),
        ..TaskListRequest::default()
    };
    let list = world.client.task_list(&request).await.unwrap();
    let mut tasks: Vec<_> = list.groups.into_iter().flat_map(|it| it.tasks).collect();
    tasks.sort_unstable_by_key(|task| task.number);
    tasks
}

#[tokio::test]
async fn an_agent_keeps_its_task_until_its_process_is_killed() {
    let mut world = World::new();
    let session = world.session().await;
    let plan = r#"call task_add {"tasks": [{"content": "one"}, {"content": "two", "depends_on": ["+1"]}]}"#;
    world.prompt(&session, plan).await;
    world
        .prompt(&session, r#"call task_next {"claim": true}"#)
        .await;
    let held = tasks(&world, &session).await;
    assert_eq!((held[0].status.as_str(), held.len()), ("in_progress", 2));
    assert_eq!(held[0].claimed_by.as_deref(), Some(session.as_str()));
    // The server's death is no end of the agent.
    world.crash(std::time::Duration::ZERO).await;
    assert_eq!(tasks(&world, &session).await[0], held[0]);
    for run in world.server.runs() {
        run.alive.unwrap().kill();
    }
    let free = async || tasks(&world, &session).await[0].status == "remaining";
    world.until("the task to be free", free).await;
    // Whoever works on is given it again, and then what waited for it.
    let finish = r#"call task_next {"claim": true}
call task_update {"task": "1", "status": "completed"}
call task_next {"claim": true}"#;
    world.prompt(&session, finish).await;
    let statuses: Vec<_> = tasks(&world, &session)
        .await
        .into_iter()
        .map(|it| it.status)
        .collect();
    assert_eq!(statuses, ["completed", "in_progress"]);
}

#[tokio::test]
async fn a_tree_shares_one_list_and_nobody_takes_what_another_has() {
    let world = World::new();
    let session = world.session().await;
    let plan = r#"call task_add {"tasks": [{"content": "one"}, {"content": "two"}]}
call task_next {"claim": true}"#;
    world.prompt(&session, plan).await;
    let spawn = wh_api::SessionSpawnRequest {
        parent: Some(session.clone()),
        prompt: r#"call task_update {"task": "1", "status": "completed"}
call task_next {"claim": true}
call note_add {"notes": [{"content": "beware", "kind": "tip"}]}
call iteration_summary {"summary": "did two"}"#
            .to_owned(),
        wait: Some(60),
        ..wh_api::SessionSpawnRequest::default()
    };
    let child = world.client.session_spawn(&spawn).await.unwrap();
    let seen = tasks(&world, &session).await;
    assert_eq!(seen[0].claimed_by.as_deref(), Some(session.as_str()));
    assert_eq!(seen[1].claimed_by.as_deref(), Some(child.session.as_str()));
    let notes = wh_api::NoteListRequest {
        session: Some(session.clone()),
        ..wh_api::NoteListRequest::default()
    };
    let notes = world.client.note_list(&notes).await.unwrap().notes;
    assert_eq!(
        (notes[0].content.as_str(), notes[0].kind.as_str()),
        ("beware", "tip")
    );
    // A person decides over what agents have.
    let done = TaskUpdateRequest {
        task: seen[0].id.as_str().into(),
        status: Some("completed".to_owned()),
        ..TaskUpdateRequest::default()
    };
    let done = world.client.task_update(&done).await.unwrap();
    assert_eq!((done.status.as_str(), done.claimed_by), ("completed", None));
}

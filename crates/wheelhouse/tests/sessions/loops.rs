//! Loops with the built-in agent: a fresh process for each iteration, in the right order, until the work is done.

mod hooks;
mod resume;

use std::{collections::BTreeSet, path::Path, time::Duration};

use wh_api::{
    BudgetInput, LoopLogRequest, LoopResumeRequest, LoopStartRequest, LoopView, RunView,
    SessionListRequest, TaskItem,
};
use wh_testkit::git::git;

use crate::{harness::World, worktrees::repo};

/// Does one task in an iteration, the way an agent would, and says so. What a task holds are commands of the agent.
const ONE_TASK: &str = r#"call task_next {"claim": true}
{{ next.content }}
call task_update {"task": "{{ next.number }}", "status": "completed"}
call iteration_summary {"summary": "did {{ next.number }} of {{ tasks.open_count }}"}
call loop_complete {}"#;

fn task(content: &str, depends_on: &[&str]) -> TaskItem {
    TaskItem {
        content: content.to_owned(),
        depends_on: depends_on.iter().map(|&it| it.into()).collect(),
        ..TaskItem::default()
    }
}

fn request(template: &str) -> LoopStartRequest {
    LoopStartRequest {
        spec: Some("Build what the tasks say.".to_owned()),
        agent: "echo".to_owned(),
        repo: "app".to_owned(),
        branch: Some("work".to_owned()),
        template: Some(template.to_owned()),
        ..LoopStartRequest::default()
    }
}

async fn start(world: &World, request: &LoopStartRequest) -> String {
    world.client.loop_start(request).await.unwrap().id
}

async fn get(world: &World, id: &str) -> LoopView {
    world.client.loop_get(id).await.unwrap()
}

/// Waits until a loop has ended or rests, and returns it.
async fn over(world: &World, id: &str) -> LoopView {
    let is_over = async || {
        let it = get(world, id).await;
        it.state == "ended" || it.state == "paused"
    };
    world.until("the loop to be over", is_over).await;
    get(world, id).await
}

fn resume(id: &str) -> LoopResumeRequest {
    LoopResumeRequest {
        r#loop: id.to_owned(),
        ..LoopResumeRequest::default()
    }
}

/// Waits until the agent of an iteration is at work.
async fn until_at_work(world: &World, id: &str) {
    let at_work = async || {
        let Some(session) = get(world, id).await.session_id else {
            return false;
        };
        world.get(&session).await.state == "running"
    };
    world.until("an agent at work", at_work).await;
}

async fn log(world: &World, id: &str) -> Vec<String> {
    let request = LoopLogRequest {
        r#loop: id.to_owned(),
        limit: Some(200),
        ..LoopLogRequest::default()
    };
    let log = world.client.loop_log(&request).await.unwrap();
    let line =
        |it: &wh_api::LoopLogEntryView| format!("{} {}: {}", it.iteration, it.about, it.text);
    log.entries.iter().map(line).collect()
}

fn subjects(repo: &Path) -> Vec<String> {
    let said = git(repo, &["log", "--reverse", "--format=%s", "main..work"]);
    said.lines().map(str::to_owned).collect()
}

/// Three tasks that depend on each other in the order that is not that of their numbers.
fn three_tasks() -> Vec<TaskItem> {
    vec![
        task("write third.txt 3\ncommit third", &["+2"]),
        task("write second.txt 2\ncommit second", &["+3"]),
        task("write first.txt 1\ncommit first", &[]),
    ]
}

#[tokio::test]
async fn three_tasks_are_done_in_the_right_order_by_three_fresh_agents() {
    let world = World::new();
    let path = repo(&world).await;
    let id = start(
        &world,
        &LoopStartRequest {
            tasks: three_tasks(),
            ..request(ONE_TASK)
        },
    )
    .await;
    let it = over(&world, &id).await;
    let log = log(&world, &id).await.join("\n");
    assert_eq!(it.outcome.as_deref(), Some("completed"), "{log}");
    assert_eq!((it.iteration, it.tasks.completed), (3, 3), "{log}");
    assert_eq!(subjects(&path), ["first", "second", "third"]);
    let sessions: BTreeSet<_> = it.iterations.iter().map(|it| &it.session_id).collect();
    assert_eq!(sessions.len(), 3);
    for iteration in &it.iterations {
        let session = iteration.session_id.as_deref().unwrap();
        let view = world.get(session).await;
        assert_eq!((view.role.as_str(), view.runs), ("worker", 1));
        assert_eq!(view.worktree_id.as_deref(), Some(it.worktree_id.as_str()));
        assert!(iteration.changed && iteration.end.as_deref() == Some("done"));
    }
    // While tasks are open the work is not done, and the agent is told which are.
    let first = it.iterations.last().unwrap().session_id.as_deref().unwrap();
    let said = world.said(first).await;
    assert!(said.contains("2 tasks are not done: #"), "{said}");
    assert_eq!(world.live_runners(), 0);
    assert!(it.tokens_used > 0);
    assert!(
        log.ends_with("3 loop: completed: the work is done"),
        "{log}"
    );
}

#[tokio::test]
async fn two_iterations_that_change_nothing_end_it_and_it_says_so() {
    let world = World::new();
    repo(&world).await;
    let id = start(&world, &request("say I am thinking about it")).await;
    let it = over(&world, &id).await;
    assert_eq!((it.outcome.as_deref(), it.iteration), (Some("stalled"), 2));
    assert!(it.reason.unwrap().contains("changed nothing"));
    // A file that is not committed is a change, and so is a note; what is said twice is none.
    for line in [
        "write notes.txt {{ loop.iteration }}",
        r#"call note_add {"notes": [{"content": "n", "kind": "tip"}]}"#,
        r#"call iteration_summary {"summary": "after {{ loop.iteration }}"}"#,
    ] {
        let id = start(
            &world,
            &LoopStartRequest {
                branch: None,
                iterations_max: Some(3),
                ..request(line)
            },
        )
        .await;
        let it = over(&world, &id).await;
        assert_eq!(
            (it.outcome.as_deref(), it.iteration),
            (Some("limit"), 3),
            "{line}"
        );
    }
    let same = r#"call iteration_summary {"summary": "nothing to do"}"#;
    let id = start(
        &world,
        &LoopStartRequest {
            branch: None,
            ..request(same)
        },
    )
    .await;
    let it = over(&world, &id).await;
    assert_eq!((it.outcome.as_deref(), it.iteration), (Some("stalled"), 3));
}

#[tokio::test]
async fn a_budget_is_that_of_all_iterations_together() {
    let world = World::new();
    repo(&world).await;
    let budget = BudgetInput {
        tokens: Some(40),
        ..BudgetInput::default()
    };
    // Sixteen tokens each: eight words, said once and answered once.
    let id = start(
        &world,
        &LoopStartRequest {
            budget: Some(budget),
            ..request("write a.txt {{ loop.iteration }}\nsay one two three four")
        },
    )
    .await;
    let it = over(&world, &id).await;
    assert_eq!((it.outcome.as_deref(), it.iteration), (Some("budget"), 3));
    assert!(it.reason.unwrap().contains("tokens"));
    assert_eq!((it.tokens_used, it.left.tokens), (48, Some(0)));
    // Each iteration was given what the ones before it had left.
    let mut given: Vec<_> = Vec::new();
    for iteration in it.iterations.iter().rev() {
        let session = world.get(iteration.session_id.as_deref().unwrap()).await;
        given.push(session.budget.tokens.unwrap());
    }
    assert_eq!(given, [40, 24, 8]);
}

#[tokio::test]
async fn it_rests_when_told_to_and_goes_on_from_there() {
    let world = World::new();
    let path = repo(&world).await;
    let slow = format!("sleep 0.5\n{ONE_TASK}");
    let id = start(
        &world,
        &LoopStartRequest {
            tasks: three_tasks(),
            ..request(&slow)
        },
    )
    .await;
    let running = async || get(&world, &id).await.state == "running";
    world.until("an iteration", running).await;
    let asked = world.client.loop_pause(&id).await.unwrap();
    assert_eq!(asked.wanted.as_deref(), Some("pause"));
    let it = over(&world, &id).await;
    assert_eq!((it.state.as_str(), it.iteration), ("paused", 1));
    assert_eq!(it.wanted, None);
    // The iteration that was under way came to its end.
    assert_eq!(subjects(&path), ["first"]);
    let resumed = world.client.loop_resume(&resume(&id)).await.unwrap();
    assert_eq!(resumed.state, "beginning");
    let it = over(&world, &id).await;
    assert_eq!(
        (it.outcome.as_deref(), it.iteration),
        (Some("completed"), 3)
    );
    assert_eq!(subjects(&path), ["first", "second", "third"]);
    let refused = world.client.loop_resume(&resume(&id)).await.unwrap_err();
    assert!(refused.to_string().contains("has ended"), "{refused}");
}

#[tokio::test]
async fn a_stop_ends_the_iteration_that_is_under_way() {
    let world = World::new();
    repo(&world).await;
    let id = start(&world, &request("say here I am\nsleep 600")).await;
    until_at_work(&world, &id).await;
    world.client.loop_stop(&id).await.unwrap();
    let it = over(&world, &id).await;
    assert_eq!((it.outcome.as_deref(), it.iteration), (Some("stopped"), 1));
    assert_eq!(it.iterations[0].end.as_deref(), Some("cancelled"));
    assert_eq!(world.live_runners(), 0);
    // Once more is no mistake.
    world.client.loop_stop(&id).await.unwrap();
}

#[tokio::test]
async fn an_iteration_that_somebody_ends_by_hand_is_looked_at_first() {
    let world = World::new();
    repo(&world).await;
    let id = start(&world, &request("sleep 600")).await;
    until_at_work(&world, &id).await;
    let session = get(&world, &id).await.session_id.unwrap();
    world.client.session_interrupt(&session).await.unwrap();
    let it = over(&world, &id).await;
    assert_eq!((it.state.as_str(), it.iteration), ("paused", 1));
}

#[tokio::test]
async fn an_agent_that_crashes_is_followed_by_another_until_two_have_failed() {
    let world = World::new();
    repo(&world).await;
    let id = start(&world, &request("crash")).await;
    let it = over(&world, &id).await;
    assert_eq!((it.outcome.as_deref(), it.iteration), (Some("failed"), 2));
    assert!(
        it.iterations
            .iter()
            .all(|it| it.end.as_deref() == Some("failed"))
    );
}

#[tokio::test]
async fn one_that_can_never_begin_has_failed_at_once() {
    let world = World::new();
    repo(&world).await;
    // The user has it checked out, and git checks a branch out once.
    let id = start(
        &world,
        &LoopStartRequest {
            branch: Some("main".to_owned()),
            ..request(ONE_TASK)
        },
    )
    .await;
    let it = over(&world, &id).await;
    assert_eq!((it.outcome.as_deref(), it.iteration), (Some("failed"), 1));
    let reason = it.reason.unwrap();
    assert!(reason.contains("checked out"), "{reason}");
}

#[tokio::test]
async fn a_server_that_is_killed_goes_on_in_the_middle_of_an_iteration() {
    let mut world = World::new();
    let path = repo(&world).await;
    let slow = format!("count 10 60\n{ONE_TASK}\nsay the end.");
    let id = start(
        &world,
        &LoopStartRequest {
            tasks: three_tasks(),
            ..request(&slow)
        },
    )
    .await;
    let mut kills = 0;
    for kill in 0..6 {
        // The time of the kill is the experiment, not a wait for something to happen.
        tokio::time::sleep(Duration::from_millis(120 + kill * 211 % 500)).await;
        if get(&world, &id).await.state == "ended" {
            break;
        }
        world.crash(Duration::ZERO).await;
        kills += 1;
    }
    let it = over(&world, &id).await;
    let log = log(&world, &id).await;
    assert_eq!(it.outcome.as_deref(), Some("completed"), "{log:#?}");
    assert_eq!(it.iteration, 3, "{log:#?}");
    assert_eq!(subjects(&path), ["first", "second", "third"]);
    // None was lost, and none was begun twice: each session of the server is an iteration, and said everything once.
    let all = SessionListRequest {
        include_archived: Some(true),
        ..SessionListRequest::default()
    };
    let sessions = world.client.session_list(&all).await.unwrap().sessions;
    assert_eq!((sessions.len(), it.iterations.len()), (3, 3));
    for iteration in &it.iterations {
        let session = iteration.session_id.as_deref().unwrap();
        let said = world.said(session).await;
        assert_eq!(said.matches("the end.").count(), 1, "{said}");
        // A run that a kill kept from starting is followed by another; one that was ready is not.
        let runs = world.runs(session).await;
        let (ready, never): (Vec<_>, Vec<_>) = runs.iter().partition(|run| run.ready_at.is_some());
        assert_eq!(ready.len(), 1, "{runs:#?}");
        let stillborn = |run: &&RunView| run.ending.as_deref() == Some("it was never started");
        assert!(never.iter().all(stillborn), "{runs:#?}");
    }
    println!(
        "loop: {kills} kills of the server, {} iterations, 3 commits",
        it.iteration
    );
    assert!(kills > 0);
}

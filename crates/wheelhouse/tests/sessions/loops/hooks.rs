//! Hooks: the operator's commands beside loops.

use std::fs;

use wh_api::LoopStartRequest;
use wh_testkit::{git::program, server::TestServer};

use super::{ONE_TASK, log, over, request, start, task};
use crate::{harness::World, worktrees::repo};

/// Starts a server whose hooks write what they are told into a file, and may fail.
fn with_hooks(script: &str, seconds: u32) -> World {
    let mut server = TestServer::stopped();
    let hook = server.home().join("hook.sh");
    let told = server.home().join("told");
    let text = format!(
        "#!/bin/sh\necho \"$WHEELHOUSE_HOOK $WHEELHOUSE_ITERATION $WHEELHOUSE_TASK$WHEELHOUSE_OUTCOME\" >> {}\n{script}\n",
        told.display()
    );
    program(&hook, &text);
    let mut config = format!("[loops]\nhook_seconds = {seconds}\n[loops.hooks]\n");
    for point in [
        "session_start",
        "pre_iteration",
        "post_iteration",
        "session_end",
        "on_task_complete",
        "on_error",
    ] {
        config.push_str(&format!("{point} = [{hook:?}, \"an argument; $HOME\"]\n"));
    }
    server.configure(&config);
    server.restart();
    World::on(server)
}

fn told(world: &World) -> Vec<String> {
    let text = fs::read_to_string(world.server.home().join("told")).unwrap();
    text.lines().map(|line| line.trim().to_owned()).collect()
}

#[tokio::test]
async fn hooks_run_at_their_points_and_their_words_are_in_the_log() {
    let world = with_hooks("echo \"heard $1 in $(pwd)\"", 30);
    repo(&world).await;
    let id = start(
        &world,
        &LoopStartRequest {
            tasks: vec![
                task("write a.txt 1\ncommit a", &[]),
                task("write b.txt 2\ncommit b", &["+1"]),
            ],
            ..request(ONE_TASK)
        },
    )
    .await;
    let it = over(&world, &id).await;
    assert_eq!(it.outcome.as_deref(), Some("completed"));
    assert_eq!(
        told(&world),
        [
            "session_start 1",
            "pre_iteration 1",
            "on_task_complete 1 1",
            "post_iteration 1",
            "pre_iteration 2",
            "on_task_complete 2 2",
            "post_iteration 2 completed",
            "session_end 2 completed",
        ]
    );
    // Nothing read the arguments as a shell would, and the command ran in the worktree.
    let log = log(&world, &id).await.join("\n");
    let heard = "2 post_iteration: heard an argument; $HOME in ";
    assert!(log.contains(heard) && log.contains("/worktrees/"), "{log}");
}

#[tokio::test]
async fn a_hook_before_an_iteration_that_fails_keeps_it_from_beginning() {
    let world = with_hooks(
        "[ $WHEELHOUSE_HOOK != pre_iteration ] || { echo no room; exit 7; }",
        30,
    );
    repo(&world).await;
    let id = start(&world, &request(ONE_TASK)).await;
    let it = over(&world, &id).await;
    assert_eq!((it.outcome.as_deref(), it.iteration), (Some("failed"), 2));
    assert!(it.iterations.iter().all(|it| it.session_id.is_none()));
    assert!(it.reason.unwrap().contains("pre_iteration"));
    assert_eq!(
        told(&world),
        [
            "session_start 1",
            "pre_iteration 1",
            "on_error 1",
            "pre_iteration 2",
            "on_error 2 failed",
            "session_end 2 failed",
        ]
    );
    let log = log(&world, &id).await.join("\n");
    assert!(
        log.contains("1 pre_iteration: no room\nfailed: it ended with exit status: 7"),
        "{log}"
    );
}

#[tokio::test]
async fn a_hook_that_takes_too_long_is_ended_and_holds_nothing_up() {
    let world = with_hooks("[ $WHEELHOUSE_HOOK != post_iteration ] || sleep 600", 1);
    repo(&world).await;
    let id = start(&world, &request("say nothing")).await;
    let it = over(&world, &id).await;
    assert_eq!(it.outcome.as_deref(), Some("stalled"));
    let log = log(&world, &id).await.join("\n");
    assert!(
        log.contains("post_iteration: failed: it was ended: it took longer than 1 s"),
        "{log}"
    );
}

#[tokio::test]
async fn the_hook_of_a_task_runs_once_as_soon_as_it_is_completed() {
    let world = with_hooks("echo heard", 30);
    repo(&world).await;
    let template = r#"call task_next {"claim": true}
call task_update {"task": "{{ next.number }}", "status": "completed"}
sleep 600"#;
    let asked = LoopStartRequest {
        tasks: vec![task("one", &[])],
        ..request(template)
    };
    let id = start(&world, &asked).await;
    let file = world.server.home().join("told");
    let has_run = async || {
        let told = fs::read_to_string(&file).unwrap_or_default();
        told.contains("on_task_complete 1 1")
    };
    world.until("the hook", has_run).await;
    // The agent is still at work, and the log has the hook's words.
    let seen = world.client.loop_get(&id).await.unwrap();
    assert_eq!((seen.state.as_str(), seen.iteration), ("running", 1));
    let is_logged = async || {
        log(&world, &id)
            .await
            .join("\n")
            .contains("on_task_complete: heard")
    };
    world.until("the log", is_logged).await;
    world.client.loop_stop(&id).await.unwrap();
    over(&world, &id).await;
    let told = told(&world);
    let runs = told.iter().filter(|it| it.starts_with("on_task_complete"));
    assert_eq!(runs.count(), 1, "{told:?}");
}

//! A loop of real agents: each iteration is a fresh process that is told the built-in prompt and does the next task.

use std::path::Path;

use serde_json::{Value, json};
use wh_api::{LoopStartRequest, PolicyInput, RepoAddRequest, TaskItem};
use wh_testkit::git::git;

use super::{place, table::Real};

const TASKS: u32 = 3;

/// What the model says in each iteration. `$1` is its number, and the number of the task that is next then.
fn script(agent: &Real) -> String {
    let call = |(tool, args): (&str, Value)| json!({"tool": tool, "args": args});
    let ours = |tool: &str, args: Value| call((&format!("{}{tool}", agent.our_tools), args));
    let work = "echo $1 > step-$1.txt && git add -A && git -c user.name=A -c user.email=a@example.org commit -qm step-$1";
    json!([{
        "match": r"(?s)^You are one iteration of a loop.*?: iteration (\d+) of at most",
        "turns": [
            ours("task_next", json!({"claim": true})),
            call((agent.run)(work)),
            ours("task_update", json!({"task": "$1", "status": "completed"})),
            ours("iteration_summary", json!({"summary": "did task $1"})),
            ours("loop_complete", json!({})),
            {"text": "iteration $1 is done"},
        ],
    }])
    .to_string()
}

pub(super) async fn works_through_a_list(agent: &'static Real, programs: &Path) {
    let (_model, world) = place::server(&[agent], &script(agent), programs).await;
    let path = place::repository(&world.server);
    let repo = RepoAddRequest {
        source: path.display().to_string(),
        name: Some("app".to_owned()),
        ..RepoAddRequest::default()
    };
    world.client.repo_add(&repo).await.unwrap();
    let task = |n: u32| TaskItem {
        content: format!("make step {n}"),
        depends_on: (1..n).map(|n| format!("+{n}").into()).collect(),
        ..TaskItem::default()
    };
    let request = LoopStartRequest {
        spec: Some("Make three steps.".to_owned()),
        agent: agent.name.to_owned(),
        repo: "app".to_owned(),
        branch: Some("looped".to_owned()),
        tasks: (1..=TASKS).map(task).collect(),
        policy: Some(PolicyInput {
            default: Some("allow".to_owned()),
            ..PolicyInput::default()
        }),
        iterations_max: Some(6),
        ..LoopStartRequest::default()
    };
    let id = world.client.loop_start(&request).await.unwrap().id;
    let over = async || world.client.loop_get(&id).await.unwrap().state == "ended";
    world.until("the loop to be over", over).await;
    let it = world.client.loop_get(&id).await.unwrap();
    let mut said = Vec::new();
    for iteration in it.iterations.iter().rev() {
        let session = iteration.session_id.as_deref().expect("it began");
        assert_eq!(world.get(session).await.runs, 1);
        said.push(world.said(session).await);
    }
    assert_eq!(
        it.outcome.as_deref(),
        Some("completed"),
        "{it:#?}\n{said:#?}"
    );
    assert_eq!((it.iteration, it.tasks.completed), (TASKS, 3), "{said:#?}");
    let log = git(&path, &["log", "--reverse", "--format=%s", "-3", "looped"]);
    assert_eq!(log, "step-1\nstep-2\nstep-3");
    for (n, said) in (1..).zip(&said) {
        assert!(said.contains(&format!("iteration {n} is done")), "{said}");
    }
    println!(
        "{}: {} iterations, {} tokens, {} s",
        agent.name, it.iteration, it.tokens_used, it.wall_seconds_used
    );
}

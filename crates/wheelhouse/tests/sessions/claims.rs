//! Agents take tasks from one list while they and the server are killed: nobody is given what somebody else has, what a killed
//! agent had is free again, and nothing is left undone.

use std::{collections::HashMap, time::Duration};

use futures::future::join_all;
use wh_api::{BoardCreateRequest, SessionCreateRequest, TaskAddRequest, TaskItem, TaskListRequest};
use wh_testkit::dice::{Dice, count};

use crate::harness::World;

/// `WH_CLAIM_AGENTS` and `WH_AGENT_TASKS` ask for more.
const AGENTS: u64 = 4;
const TASKS: u64 = 20;

/// One agent in so many is killed with a task in its hands, and the server after one round in so many.
const AGENT_KILLED_OF: u64 = 4;
const SERVER_KILLED_OF: u64 = 3;

/// What lies on the list.
struct Standing {
    /// Tasks by number, and who has them.
    held: HashMap<u64, String>,
    open: u64,
}

async fn standing(world: &World, board: &str) -> Standing {
    let request = TaskListRequest {
        board: Some(board.to_owned()),
        limit: Some(200),
        ..TaskListRequest::default()
    };
    let list = world.client.task_list(&request).await.unwrap();
    let open = list.groups.iter().filter(|it| it.status != "completed");
    let open = open.map(|it| it.total).sum();
    let tasks = list.groups.into_iter().flat_map(|it| it.tasks);
    let held = tasks.filter_map(|task| Some((task.number, task.claimed_by?)));
    Standing {
        held: held.collect(),
        open,
    }
}

async fn prepare(world: &World, agents: u64, tasks: u64) -> (String, Vec<String>) {
    let board = BoardCreateRequest {
        name: "claims".to_owned(),
        description: None,
        zones: Vec::new(),
        idempotency_key: None,
    };
    let board = world.client.board_create(&board).await.unwrap().id;
    let item = |n| TaskItem {
        content: format!("task {n}"),
        ..TaskItem::default()
    };
    let items: Vec<_> = (0..tasks).map(item).collect();
    for some in items.chunks(200) {
        let request = TaskAddRequest {
            tasks: some.to_vec(),
            board: Some(board.clone()),
            ..TaskAddRequest::default()
        };
        world.client.task_add(&request).await.unwrap();
    }
    let mut sessions = Vec::new();
    for _ in 0..agents {
        let request = SessionCreateRequest {
            board: Some(board.clone()),
            ..SessionCreateRequest::default()
        };
        sessions.push(world.session_with(request).await);
    }
    (board, sessions)
}

fn kill_agent(world: &World, session: &str) {
    for run in world.server.runs() {
        if run.spec.session.to_string() == session
            && let Some(runner) = run.alive
        {
            runner.kill();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_killed_agent_had_is_done_by_another_and_nothing_twice() {
    let agents = count("WH_CLAIM_AGENTS", AGENTS);
    let tasks = count("WH_AGENT_TASKS", TASKS);
    let mut dice = Dice::roll_out("agents' claims");
    let mut world = World::new();
    let (board, sessions) = prepare(&world, agents, tasks).await;
    let take = format!(r#"call task_next {{"board": "{board}", "claim": true}}"#);
    let mut done: HashMap<u64, String> = HashMap::new();
    let (mut killed, mut server_kills, mut rounds) = (0, 0, 0);
    while standing(&world, &board).await.open > 0 {
        rounds += 1;
        assert!(rounds < tasks * 4, "the work does not come to an end");
        join_all(sessions.iter().map(|it| world.prompt(it, &take))).await;
        if dice.below(SERVER_KILLED_OF) == 0 || server_kills == 0 {
            world.crash(Duration::ZERO).await;
            server_kills += 1;
        }
        let held = standing(&world, &board).await.held;
        let mut victims = Vec::new();
        for (task, session) in &held {
            // At least one, whatever the dice say.
            if dice.below(AGENT_KILLED_OF) == 0 || killed == 0 {
                kill_agent(&world, session);
                victims.push(*task);
                killed += 1;
                continue;
            }
            let finish = format!(
                r#"call task_update {{"board": "{board}", "task": "{task}", "status": "completed"}}"#
            );
            world.prompt(session, &finish).await;
            let before = done.insert(*task, session.clone());
            assert_eq!(before, None, "task {task} was done twice");
        }
        // What a dead agent had is nobody's, and stays to be done.
        let free = async || {
            let held = standing(&world, &board).await.held;
            victims.iter().all(|task| !held.contains_key(task))
        };
        world.until("tasks of the dead to be free", free).await;
    }
    println!(
        "claims of agents: {agents} agents, {tasks} tasks, {rounds} rounds, {killed} agents killed with a task, {server_kills} \
         kills of the server, {} done, 0 twice",
        done.len()
    );
    assert_eq!(done.len() as u64, tasks);
    assert!(killed > 0);
}

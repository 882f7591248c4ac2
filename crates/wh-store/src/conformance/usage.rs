//! Checks of sums over turns.

use std::sync::Arc;

use jiff::Timestamp;
use wh_domain::{
    AgentName, DayOffset, Fork, Operation, Reach, Session, Usage, UsageSpan, UsageSums,
};

use super::Outcome;
use super::fixture::{self, Made, owned_by};
use super::run::{begin, started, step};
use super::turn::{queue, turn_value};
use crate::{NewSession, RunFact, Store};

/// Adds a session of an agent.
async fn session(store: &Arc<dyn Store>, agent: &str, parent: Option<&Session>) -> Made<Session> {
    let owner = match parent {
        Some(parent) => parent.owner,
        None => owned_by(fixture::user(store).await?.id),
    };
    let mut session = fixture::session_value(owner, parent)?;
    session.agent = AgentName::parse(agent)?;
    session.epoch = 0;
    fixture::insert_session(store, &session).await?;
    Ok(session)
}

/// Has a session take a turn that ends at a time.
async fn turn(store: &Arc<dyn Store>, session: &Session, at: &str, usage: Usage) -> Made<()> {
    let turn = turn_value(session, "do it");
    queue(store, session, &turn).await?;
    let (run, _) = begin(store, session).await?;
    let ended = RunFact::TurnEnded {
        turn: turn.id,
        state: wh_domain::TurnState::Completed,
        reason: None,
        commit_after: None,
        usage,
        estimate_micros: 0,
    };
    let mut step = step(&run, vec![started(&turn), ended]);
    step.at = at.parse()?;
    store.run_apply(step).await?;
    Ok(())
}

fn tokens(input: u64, output: u64) -> Usage {
    Usage {
        input_tokens: input,
        cached_tokens: 1,
        output_tokens: output,
        ..Usage::default()
    }
}

async fn sums(
    store: &Arc<dyn Store>,
    reach: Reach,
    span: [&str; 2],
    minutes: i32,
    trees: u32,
) -> Made<UsageSums> {
    let span = UsageSpan {
        since: span[0].parse::<Timestamp>()?,
        until: span[1].parse()?,
        offset: DayOffset::from_minutes(minutes)?,
    };
    Ok(store.usage_sums(reach, span, trees).await?)
}

const MARCH: [&str; 2] = ["2030-03-01T00:00:00Z", "2030-04-01T00:00:00Z"];

/// What all sessions of a user use is counted by day; an estimate counts where the agent reported no money.
pub async fn is_counted_for_each_users_day(store: Arc<dyn Store>) -> Outcome {
    let one = session(&store, "echo", None).await?;
    let child = session(&store, "echo", Some(&one)).await?;
    let other = session(&store, "echo", None).await?;
    turn(&store, &one, "2030-03-01T23:59:59Z", tokens(5, 1)).await?;
    turn(&store, &child, "2030-03-02T00:00:00Z", tokens(7, 1)).await?;
    turn(&store, &other, "2030-03-02T01:00:00Z", tokens(100, 1)).await?;
    let (run, _) = begin(&store, &one).await?;
    for (prompt, reported, estimated) in [("reports", Some(40), 9), ("does not", None, 9)] {
        let asked = turn_value(&one, prompt);
        queue(&store, &one, &asked).await?;
        let reported = reported.map(|micros| RunFact::Cost { micros });
        let ended = RunFact::TurnEnded {
            turn: asked.id,
            state: wh_domain::TurnState::Completed,
            reason: None,
            commit_after: None,
            usage: tokens(1, 0),
            estimate_micros: estimated,
        };
        let facts = [Some(started(&asked)), reported, Some(ended)];
        let mut step = step(&run, facts.into_iter().flatten().collect());
        step.at = "2030-03-02T12:00:00Z".parse()?;
        store.run_apply(step).await?;
    }
    let day = async |at: &str| -> Made<Usage> {
        let found = store.usage_of_day(one.owner.user, at.parse()?);
        Ok(found.await?)
    };
    let first = day("2030-03-01T05:00:00Z").await?;
    assert_eq!((first.input_tokens, first.turns), (5, 1));
    let second = day("2030-03-02T23:00:00Z").await?;
    assert_eq!((second.input_tokens, second.turns), (7 + 1 + 1, 3));
    assert_eq!((second.cost_micros, second.estimated_micros), (49, 9));
    assert_eq!(day("2030-03-03T00:00:00Z").await?, Usage::default());
    Ok(())
}

/// Turns are summed by day where the caller is, by agent and by tree, within the time and within reach.
pub async fn is_summed_by_day_agent_and_tree(store: Arc<dyn Store>) -> Outcome {
    let root = session(&store, "one", None).await?;
    let child = session(&store, "two", Some(&root)).await?;
    let other = session(&store, "one", None).await?;
    turn(&store, &root, "2030-02-28T23:59:59Z", tokens(1000, 0)).await?;
    turn(&store, &root, "2030-03-01T00:00:00Z", tokens(5, 2)).await?;
    turn(&store, &child, "2030-03-05T23:30:00Z", tokens(7, 3)).await?;
    turn(&store, &child, "2030-03-06T00:30:00Z", tokens(11, 4)).await?;
    turn(&store, &root, "2030-04-01T00:00:00Z", tokens(1000, 0)).await?;
    turn(&store, &other, "2030-03-05T12:00:00Z", tokens(100, 0)).await?;
    let own = Reach::User(root.owner.user);

    let all = sums(&store, own, MARCH, 0, 5).await?;
    let days = |sums: &UsageSums| -> Vec<_> {
        let days = sums.days.iter();
        days.map(|(day, usage)| (day.to_string(), usage.input_tokens, usage.turns))
            .collect()
    };
    let day = |day: &str, input, turns| (day.to_owned(), input, turns);
    assert_eq!(
        days(&all),
        [
            day("2030-03-01", 5, 1),
            day("2030-03-05", 7, 1),
            day("2030-03-06", 11, 1)
        ]
    );
    let total = all.total();
    let told = (
        total.input_tokens,
        total.cached_tokens,
        total.output_tokens,
        total.turns,
    );
    assert_eq!(told, (23, 3, 9, 3));
    let agents: Vec<_> = all
        .agents
        .top
        .iter()
        .map(|(name, usage)| (name.as_str(), usage.input_tokens))
        .collect();
    assert_eq!(agents, [("two", 18), ("one", 5)]);
    let [(tree, usage)] = &all.trees.top[..] else {
        return Err("not one tree".into());
    };
    assert_eq!((tree.root, usage.input_tokens), (root.id, 23));
    let about = Some((root.title.as_str().to_owned(), "one".to_owned()));
    assert_eq!(tree.about, about);
    assert_eq!(all.trees.others.0, 0);

    let east = sums(&store, own, MARCH, 60, 5).await?;
    assert_eq!(
        days(&east),
        [day("2030-03-01", 5, 1), day("2030-03-06", 18, 2)]
    );
    let west = sums(&store, own, MARCH, -60, 5).await?;
    assert_eq!(
        days(&west),
        [day("2030-02-28", 5, 1), day("2030-03-05", 18, 2)]
    );

    // A session sees what is below it, and is the root of what it sees.
    let below = sums(&store, Reach::Tree(child.id), MARCH, 0, 5).await?;
    assert_eq!(below.total().input_tokens, 18);
    let roots: Vec<_> = below.trees.top.iter().map(|(tree, _)| tree.root).collect();
    assert_eq!(roots, [child.id]);
    let nobody = Reach::User(fixture::user(&store).await?.id);
    assert_eq!(
        sums(&store, nobody, MARCH, 0, 5).await?,
        UsageSums::default()
    );
    Ok(())
}

/// Beyond the dearest, trees are one sum; no agent's claim is larger than can be summed.
pub async fn of_many_trees_is_summed_beyond_the_dearest(store: Arc<dyn Store>) -> Outcome {
    let first = session(&store, "one", None).await?;
    let owner = first.owner;
    for input in 1..=4 {
        let mut session = fixture::session_value(owner, None)?;
        session.epoch = 0;
        fixture::insert_session(&store, &session).await?;
        turn(&store, &session, "2030-03-02T00:00:00Z", tokens(input, 0)).await?;
    }
    for _ in 0..3 {
        turn(
            &store,
            &first,
            "2030-03-02T00:00:00Z",
            tokens(u64::MAX, u64::MAX),
        )
        .await?;
    }
    let sums = sums(&store, Reach::User(owner.user), MARCH, 0, 2).await?;
    let top: Vec<_> = sums
        .trees
        .top
        .iter()
        .map(|(tree, usage)| (tree.root == first.id, usage.input_tokens))
        .collect();
    assert_eq!(top, [(true, 3_000_000_000_000), (false, 4)]);
    let (count, others) = sums.trees.others;
    assert_eq!((count, others.input_tokens, others.turns), (3, 6, 3));
    assert_eq!(sums.total().turns, 7);
    Ok(())
}

/// What a fork took over was used by the session it comes from.
pub async fn of_a_fork_is_its_own(store: Arc<dyn Store>) -> Outcome {
    let from = session(&store, "one", None).await?;
    turn(&store, &from, "2030-03-02T00:00:00Z", tokens(5, 0)).await?;
    let mut fork = fixture::session_value(from.owner, None)?;
    fork.epoch = 0;
    fork.fork = Some(Fork {
        from: from.id,
        turn: 1,
    });
    let new = NewSession {
        session: fork.clone(),
        turn: None,
        live_max: 100,
        spawn: None,
        worktree: None,
        laid: None,
    };
    let commit = fixture::commit(from.owner.user, Operation::SessionFork);
    fixture::done(store.session_begin(&new, commit).await?);
    turn(&store, &fork, "2030-03-03T00:00:00Z", tokens(7, 0)).await?;
    let sums = sums(&store, Reach::User(from.owner.user), MARCH, 0, 5).await?;
    let trees: Vec<_> = sums
        .trees
        .top
        .iter()
        .map(|(tree, usage)| (tree.root, usage.input_tokens, usage.turns))
        .collect();
    assert_eq!(trees, [(fork.id, 7, 1), (from.id, 5, 1)]);
    Ok(())
}

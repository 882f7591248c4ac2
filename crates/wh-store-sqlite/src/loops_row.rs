//! A loop as a row: what is written.

use wh_domain::{Loop, LoopState, Tier};

use crate::reach::Query;
use crate::row::{int, micros, uuid, uuid_opt};
use crate::session_row::{hosts_text, policy_text, push_used};

/// Returns the insertion of a loop.
pub(crate) fn insert_query(it: &Loop) -> Query {
    let mut query = Query::new(
        "INSERT INTO loops (id, owner_user_id, owner_key_id, title, repo_id, worktree_id, board_id, agent, mode, model, mcp_dialect, policy,
             spec, template, iterations_max, budget_tokens, budget_cost_micros, budget_wall_seconds, budget_turns,
             state, iteration, wish, revision, created_at, updated_at, started_by, tier, hosts) VALUES (",
    );
    let budget = it.budget;
    let mut row = query.separated(", ");
    row.push_bind(uuid(it.id))
        .push_bind(uuid(it.owner.user))
        .push_bind(uuid_opt(it.owner.key))
        .push_bind(it.title.as_str().to_owned())
        .push_bind(uuid(it.repo))
        .push_bind(uuid(it.worktree))
        .push_bind(uuid_opt(it.board))
        .push_bind(it.agent.as_str().to_owned())
        .push_bind(it.mode.clone())
        .push_bind(it.model.as_ref().map(ToString::to_string))
        .push_bind(it.mcp_dialect.as_str())
        .push_bind(policy_text(&it.policy))
        .push_bind(it.spec.as_str().to_owned())
        .push_bind(it.template.as_ref().map(|text| text.as_str().to_owned()))
        .push_bind(i64::from(it.iterations_max))
        .push_bind(budget.tokens.map(int))
        .push_bind(budget.cost_micros.map(int))
        .push_bind(budget.wall_seconds.map(int))
        .push_bind(budget.turns.map(int))
        .push_bind(it.state.name())
        .push_bind(i64::from(it.state.iteration()))
        .push_bind(it.wish.as_str())
        .push_bind(int(it.revision))
        .push_bind(micros(it.created_at))
        .push_bind(micros(it.updated_at))
        .push_bind(uuid_opt(it.started_by))
        .push_bind(it.tier.map(Tier::as_str))
        .push_bind(it.hosts.as_ref().map(hosts_text));
    query.push(")");
    query
}

/// Returns the update of everything that changes about a loop, if it is as it was seen.
pub(crate) fn update_query(after: &Loop) -> Query {
    let outcome = match &after.state {
        LoopState::Ended { outcome, .. } => Some(outcome),
        _ => None,
    };
    let mut query = Query::new("UPDATE loops SET state = ");
    query.push_bind(after.state.name());
    query
        .push(", iteration = ")
        .push_bind(i64::from(after.state.iteration()));
    query
        .push(", session_id = ")
        .push_bind(uuid_opt(after.state.session()));
    query
        .push(", outcome = ")
        .push_bind(outcome.map(|it| it.as_str()));
    query
        .push(", outcome_detail = ")
        .push_bind(outcome.map(|it| it.detail().to_owned()));
    query.push(", wish = ").push_bind(after.wish.as_str());
    query
        .push(", iterations_max = ")
        .push_bind(i64::from(after.iterations_max));
    let budget = after.budget;
    for (column, limit) in [
        ("budget_tokens", budget.tokens),
        ("budget_cost_micros", budget.cost_micros),
        ("budget_wall_seconds", budget.wall_seconds),
        ("budget_turns", budget.turns),
    ] {
        query
            .push(format_args!(", {column} = "))
            .push_bind(limit.map(int));
    }
    query.push(", idle = ").push_bind(i64::from(after.idle));
    push_used(&mut query, after.usage);
    query
        .push(", updated_at = ")
        .push_bind(micros(after.updated_at));
    query.push(", revision = revision + 1 WHERE id = ");
    query.push_bind(uuid(after.id));
    query
        .push(" AND revision = ")
        .push_bind(int(after.revision));
    query
}

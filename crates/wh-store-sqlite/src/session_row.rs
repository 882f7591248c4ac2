//! A session as a row: its columns, in both directions.

use std::path::PathBuf;

use sqlx::sqlite::SqliteRow;
use wh_domain::{
    AgentName, Budget, Description, EffectiveTier, Fork, HostList, McpDialect, ModelName, Policy,
    RoleSet, Session, SessionRole, SessionState, SessionStateName, Tier, Title, Usage,
};

use crate::reach::Query;
use crate::row::{self, BadRow, Parsed, int, micros, uuid, uuid_opt};

/// Adds the insertion of a session to an empty query.
pub(crate) fn insert_query(session: &Session) -> Query {
    let mut query = Query::new(
        "INSERT INTO sessions (id, owner_user_id, owner_key_id, title, description, agent, role,
             state, state_turn_id, state_since, state_pending, state_review_id, state_kill_at, state_reason,
             archived, parent_id, root_id, depth, repo_id, worktree_id, path, board_id, policy, mode, epoch,
             budget_tokens, budget_cost_micros, budget_wall_seconds, budget_turns,
             used_input_tokens, used_cached_tokens, used_output_tokens, used_cost_micros, used_wall_seconds, used_turns,
             last_seq, last_words, created_at, updated_at, lineage, callback,
             forked_from_id, forked_at_turn, tier, effective_tier, hosts, model, current_model, used_estimated_micros,
             mcp_dialect) VALUES (",
    );
    let state = StateColumns::from(&session.state);
    let (budget, usage) = (session.budget, session.usage);
    let mut row = query.separated(", ");
    row.push_bind(uuid(session.id))
        .push_bind(uuid(session.owner.user))
        .push_bind(uuid_opt(session.owner.key))
        .push_bind(session.title.as_str())
        .push_bind(session.description.as_ref().map(|d| d.as_str()))
        .push_bind(session.agent.as_str())
        .push_bind(session.role.as_str())
        .push_bind(session.state.name().as_str())
        .push_bind(state.turn)
        .push_bind(state.since)
        .push_bind(state.pending)
        .push_bind(state.review)
        .push_bind(state.kill_at)
        .push_bind(state.reason)
        .push_bind(session.archived)
        .push_bind(uuid_opt(session.parent))
        .push_bind(uuid(session.root))
        .push_bind(session.depth)
        .push_bind(uuid_opt(session.repo))
        .push_bind(uuid_opt(session.worktree))
        .push_bind(path_text(session))
        .push_bind(uuid_opt(session.board))
        .push_bind(policy_text(&session.policy))
        .push_bind(session.mode.as_deref())
        .push_bind(int(session.epoch));
    for limit in [
        budget.tokens,
        budget.cost_micros,
        budget.wall_seconds,
        budget.turns,
    ] {
        row.push_bind(limit.map(int));
    }
    for used in [
        usage.input_tokens,
        usage.cached_tokens,
        usage.output_tokens,
        usage.cost_micros,
        usage.wall_seconds,
        usage.turns,
        session.last_seq,
    ] {
        row.push_bind(int(used));
    }
    row.push_bind(session.last_words.as_deref())
        .push_bind(micros(session.created_at))
        .push_bind(micros(session.updated_at))
        .push_bind(lineage_text(session.lineage))
        .push_bind(session.callback)
        .push_bind(uuid_opt(session.fork.map(|fork| fork.from)))
        .push_bind(session.fork.map(|fork| int(fork.turn)))
        .push_bind(session.tier.as_str())
        .push_bind(session.effective_tier.map(|tier| tier.to_string()))
        .push_bind(session.hosts.as_ref().map(hosts_text))
        .push_bind(session.model.as_ref().map(|model| model.as_str()))
        .push_bind(session.current_model.as_deref())
        .push_bind(int(session.usage.estimated_micros))
        .push_bind(session.mcp_dialect.as_str());
    query.push(")");
    query
}

/// Adds the update of everything that a run or a step of state changes.
pub(crate) fn push_update(query: &mut Query, session: &Session) {
    let state = StateColumns::from(&session.state);
    query.push("UPDATE sessions SET state = ");
    query.push_bind(session.state.name().as_str());
    query.push(", state_turn_id = ").push_bind(state.turn);
    query.push(", state_since = ").push_bind(state.since);
    query.push(", state_pending = ").push_bind(state.pending);
    query.push(", state_review_id = ").push_bind(state.review);
    query.push(", state_kill_at = ").push_bind(state.kill_at);
    query
        .push(", state_reason = ")
        .push_bind(state.reason.map(str::to_owned));
    push_used(query, session.usage);
    query
        .push(", current_model = ")
        .push_bind(session.current_model.clone());
    query.push(", last_seq = ").push_bind(int(session.last_seq));
    query
        .push(", last_words = ")
        .push_bind(session.last_words.clone());
    query
        .push(", updated_at = ")
        .push_bind(micros(session.updated_at));
    query.push(" WHERE id = ").push_bind(uuid(session.id));
}

/// Adds what was used to an update.
pub(crate) fn push_used(query: &mut Query, usage: Usage) {
    for (column, used) in [
        ("used_input_tokens", usage.input_tokens),
        ("used_cached_tokens", usage.cached_tokens),
        ("used_output_tokens", usage.output_tokens),
        ("used_cost_micros", usage.cost_micros),
        ("used_estimated_micros", usage.estimated_micros),
        ("used_wall_seconds", usage.wall_seconds),
        ("used_turns", usage.turns),
    ] {
        query
            .push(format_args!(", {column} = "))
            .push_bind(int(used));
    }
}

/// Writes a policy; the usual one is left out, so that a better default reaches old sessions too.
pub(crate) fn policy_text(policy: &Policy) -> Option<String> {
    // Writing texts and enums as JSON cannot fail.
    let text = || serde_json::to_string(policy).unwrap_or_default();
    (*policy != Policy::default()).then(text)
}

fn fork_columns(row: &SqliteRow) -> Parsed<Option<Fork>> {
    let from = row::id_opt(row, "forked_from_id")?;
    let turn = row::count_opt(row, "forked_at_turn")?;
    Ok(from.zip(turn).map(|(from, turn)| Fork { from, turn }))
}

fn lineage_text(lineage: RoleSet) -> String {
    let roles: Vec<_> = lineage.iter().map(SessionRole::as_str).collect();
    roles.join(",")
}

fn parse_lineage(text: &str) -> Option<RoleSet> {
    let roles = text.split(',').filter(|role| !role.is_empty());
    roles.map(SessionRole::parse).collect()
}

fn path_text(session: &Session) -> Option<String> {
    let path = session.path.as_deref()?;
    Some(path.to_string_lossy().into_owned())
}

/// The columns that only some states have.
#[derive(Default)]
struct StateColumns<'s> {
    turn: Option<uuid::Uuid>,
    since: Option<i64>,
    pending: Option<i64>,
    review: Option<uuid::Uuid>,
    kill_at: Option<i64>,
    reason: Option<&'s str>,
}

impl<'s> From<&'s SessionState> for StateColumns<'s> {
    fn from(state: &'s SessionState) -> Self {
        let mut columns = Self::default();
        match state {
            SessionState::Running { turn, since } => {
                columns.turn = Some(uuid(*turn));
                columns.since = Some(micros(*since));
            }
            SessionState::Waiting {
                turn,
                since,
                pending,
            } => {
                columns.turn = Some(uuid(*turn));
                columns.since = Some(micros(*since));
                columns.pending = Some(i64::from(*pending));
            }
            SessionState::Reviewing { review } => columns.review = Some(uuid(*review)),
            SessionState::Stopping { kill_at } => columns.kill_at = Some(micros(*kill_at)),
            SessionState::Failed { reason } => columns.reason = Some(reason),
            SessionState::Creating
            | SessionState::Idle
            | SessionState::Stopped
            | SessionState::Interrupted
            | SessionState::Completed
            | SessionState::Terminated
            | SessionState::Abandoned => {}
        }
        columns
    }
}

/// Puts the state together again; columns that do not fit the name are an error.
fn state_columns(row: &SqliteRow) -> Parsed<SessionState> {
    use SessionStateName as Name;
    let name = row::parse_enum(row, "state", Name::parse)?;
    Ok(match name {
        Name::Creating => SessionState::Creating,
        Name::Idle => SessionState::Idle,
        Name::Running => SessionState::Running {
            turn: row::id(row, "state_turn_id")?,
            since: row::time(row, "state_since")?,
        },
        Name::Waiting => SessionState::Waiting {
            turn: row::id(row, "state_turn_id")?,
            since: row::time(row, "state_since")?,
            pending: row::get(row, "state_pending")?,
        },
        Name::Reviewing => SessionState::Reviewing {
            review: row::id(row, "state_review_id")?,
        },
        Name::Stopping => SessionState::Stopping {
            kill_at: row::time(row, "state_kill_at")?,
        },
        Name::Stopped => SessionState::Stopped,
        Name::Interrupted => SessionState::Interrupted,
        Name::Completed => SessionState::Completed,
        Name::Failed => SessionState::Failed {
            reason: row::get(row, "state_reason")?,
        },
        Name::Terminated => SessionState::Terminated,
        Name::Abandoned => SessionState::Abandoned,
    })
}

/// Reads an effective tier; absent in rows from before there were tiers.
pub(crate) fn effective_tier(
    row: &SqliteRow,
    column: &'static str,
) -> Parsed<Option<EffectiveTier>> {
    let text: Option<String> = row::get(row, column)?;
    let unknown = || BadRow::new(column, "unknown tier");
    text.map(|text| EffectiveTier::parse(&text).ok_or_else(unknown))
        .transpose()
}

/// Reads the tools of agents; absent in rows from before there was a choice.
pub(crate) fn dialect(row: &SqliteRow) -> Parsed<Option<McpDialect>> {
    row::parse_opt(row, "mcp_dialect", McpDialect::parse)
}

/// Writes a list of hosts as a JSON array of its rules.
pub(crate) fn hosts_text(hosts: &HostList) -> String {
    let rules = hosts.rules().iter().map(ToString::to_string);
    serde_json::Value::from_iter(rules).to_string()
}

pub(crate) fn parse_hosts(text: &str) -> std::result::Result<HostList, String> {
    let rules: Vec<String> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    HostList::parse(rules).map_err(|(rule, refusal)| format!("{rule}: {refusal}"))
}

/// The columns of a session `t` that is shown: all of them, and whether prompts wait for it.
pub(crate) const SHOWN: &str = "t.*, t.state = 'idle' AND EXISTS (SELECT 1 FROM turns q
    WHERE q.session_id = t.id AND q.state = 'queued') AS has_queue";

/// Reads a row with the columns of [`SHOWN`].
pub(crate) fn shown_session_row(row: &SqliteRow) -> Parsed<Session> {
    Ok(Session {
        has_queue: row::get(row, "has_queue")?,
        ..session_row(row)?
    })
}

/// Reads a row with all columns of `sessions`.
pub(crate) fn session_row(row: &SqliteRow) -> Parsed<Session> {
    Ok(Session {
        id: row::id(row, "id")?,
        owner: row::owner(row)?,
        title: row::parse(row, "title", Title::parse)?,
        description: row::parse_opt(row, "description", Description::parse)?,
        agent: row::parse(row, "agent", AgentName::parse)?,
        role: row::parse_enum(row, "role", SessionRole::parse)?,
        state: state_columns(row)?,
        archived: row::get(row, "archived")?,
        parent: row::id_opt(row, "parent_id")?,
        lineage: row::parse_enum(row, "lineage", parse_lineage)?,
        callback: row::get(row, "callback")?,
        fork: fork_columns(row)?,
        root: row::id(row, "root_id")?,
        depth: u32::try_from(row::count(row, "depth")?).map_err(|e| BadRow::new("depth", e))?,
        repo: row::id_opt(row, "repo_id")?,
        worktree: row::id_opt(row, "worktree_id")?,
        path: row::get::<Option<String>>(row, "path")?.map(PathBuf::from),
        board: row::id_opt(row, "board_id")?,
        policy: row::parse_opt(row, "policy", |text| serde_json::from_str(text))?
            .unwrap_or_default(),
        mode: row::get(row, "mode")?,
        model: row::parse_opt(row, "model", ModelName::parse)?,
        current_model: row::get(row, "current_model")?,
        tier: row::parse_opt(row, "tier", Tier::parse)?.unwrap_or(Tier::DEFAULT),
        effective_tier: effective_tier(row, "effective_tier")?,
        hosts: row::parse_opt(row, "hosts", parse_hosts)?,
        mcp_dialect: dialect(row)?.unwrap_or_default(),
        has_queue: false,
        epoch: row::count(row, "epoch")?,
        budget: Budget {
            tokens: row::count_opt(row, "budget_tokens")?,
            cost_micros: row::count_opt(row, "budget_cost_micros")?,
            wall_seconds: row::count_opt(row, "budget_wall_seconds")?,
            turns: row::count_opt(row, "budget_turns")?,
        },
        usage: usage_columns(row, USED, row::count(row, "used_turns")?)?,
        used_below: usage_columns(row, USED_BELOW, row::count(row, "below_turns")?)?,
        last_seq: row::count(row, "last_seq")?,
        last_words: row::get(row, "last_words")?,
        created_at: row::time(row, "created_at")?,
        updated_at: row::time(row, "updated_at")?,
    })
}

/// The columns of what a session or turn has used, but for the number of turns.
pub(crate) const USED: [&str; 6] = [
    "used_input_tokens",
    "used_cached_tokens",
    "used_output_tokens",
    "used_cost_micros",
    "used_estimated_micros",
    "used_wall_seconds",
];
const USED_BELOW: [&str; 6] = [
    "below_input_tokens",
    "below_cached_tokens",
    "below_output_tokens",
    "below_cost_micros",
    "below_estimated_micros",
    "below_wall_seconds",
];

/// Reads what was used from its columns.
pub(crate) fn usage_columns(row: &SqliteRow, columns: [&str; 6], turns: u64) -> Parsed<Usage> {
    let [input, cached, output, cost, estimated, wall] = columns;
    Ok(Usage {
        input_tokens: row::count(row, input)?,
        cached_tokens: row::count(row, cached)?,
        output_tokens: row::count(row, output)?,
        cost_micros: row::count(row, cost)?,
        estimated_micros: row::count(row, estimated)?,
        wall_seconds: row::count(row, wall)?,
        turns,
    })
}

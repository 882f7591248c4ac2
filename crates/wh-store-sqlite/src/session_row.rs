//! A session as a row: its columns, in both directions.

use sqlx::sqlite::SqliteRow;
use wh_domain::{
    AgentName, Budget, Description, Session, SessionRole, SessionState, SessionStateName, Title,
    Usage,
};

use crate::reach::Query;
use crate::row::{self, BadRow, Parsed, int, micros, uuid, uuid_opt};

/// Adds the insertion of a session to an empty query.
pub(crate) fn insert_query(session: &Session) -> Query {
    let mut query = Query::new(
        "INSERT INTO sessions (id, owner_user_id, owner_key_id, title, description, agent, role,
             state, state_turn_id, state_since, state_pending, state_review_id, state_kill_at, state_reason,
             archived, parent_id, root_id, depth, repo_id, worktree_id, board_id, epoch,
             budget_tokens, budget_cost_micros, budget_wall_seconds, budget_turns,
             used_input_tokens, used_cached_tokens, used_output_tokens, used_cost_micros, used_wall_seconds, used_turns,
             last_seq, last_words, created_at, updated_at) VALUES (",
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
        .push_bind(uuid_opt(session.board))
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
        .push_bind(micros(session.updated_at));
    query.push(")");
    query
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
        root: row::id(row, "root_id")?,
        depth: u32::try_from(row::count(row, "depth")?).map_err(|e| BadRow::new("depth", e))?,
        repo: row::id_opt(row, "repo_id")?,
        worktree: row::id_opt(row, "worktree_id")?,
        board: row::id_opt(row, "board_id")?,
        epoch: row::count(row, "epoch")?,
        budget: Budget {
            tokens: row::count_opt(row, "budget_tokens")?,
            cost_micros: row::count_opt(row, "budget_cost_micros")?,
            wall_seconds: row::count_opt(row, "budget_wall_seconds")?,
            turns: row::count_opt(row, "budget_turns")?,
        },
        usage: Usage {
            input_tokens: row::count(row, "used_input_tokens")?,
            cached_tokens: row::count(row, "used_cached_tokens")?,
            output_tokens: row::count(row, "used_output_tokens")?,
            cost_micros: row::count(row, "used_cost_micros")?,
            wall_seconds: row::count(row, "used_wall_seconds")?,
            turns: row::count(row, "used_turns")?,
        },
        last_seq: row::count(row, "last_seq")?,
        last_words: row::get(row, "last_words")?,
        created_at: row::time(row, "created_at")?,
        updated_at: row::time(row, "updated_at")?,
    })
}

//! What a caller can see, as SQL conditions. The only place where a reach becomes SQL.
//!
//! Conditions are about the table aliased `t`.

use sqlx::{QueryBuilder, Sqlite};
use wh_domain::{IdRef, Reach, SessionId, ShareLevel, UserId};

use crate::row::uuid;

/// A query under construction.
pub(crate) type Query = QueryBuilder<Sqlite>;

/// How far down a tree is followed. Far more than any limit on depth allows, and an end if a row were its own ancestor.
const DEPTH_MAX: u32 = 64;

/// The most candidates that a lookup by id returns.
pub(crate) const CANDIDATES_MAX: u32 = 10;

/// Begins a query whose rows [`crate::SqliteStore::count`] counts: those of a table under the conditions that follow.
pub(crate) fn counted(table: &str) -> Query {
    Query::new(format!(
        "SELECT COUNT(*) AS number FROM (SELECT 1 FROM {table} WHERE "
    ))
}

/// What is looked at in a session's tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owned {
    Boards,
    Repos,
    Sessions,
    Worktrees,
}

impl Owned {
    /// Returns the column of `sessions` by which a tree reaches these.
    fn tree_column(self) -> &'static str {
        match self {
            Self::Boards => "board_id",
            Self::Repos => "repo_id",
            Self::Sessions => "id",
            Self::Worktrees => "worktree_id",
        }
    }

    /// Tells whether others can be given these: boards are shared, and sessions as the boards are that they are on.
    fn can_be_shared(self) -> bool {
        matches!(self, Self::Boards | Self::Sessions)
    }
}

/// Adds the condition that `t`, a table with an owner, lies within reach.
pub(crate) fn push_owned(query: &mut Query, reach: Reach, owned: Owned) {
    match reach {
        Reach::All => {
            query.push("TRUE");
        }
        Reach::User(user) => {
            query.push("t.owner_user_id = ").push_bind(uuid(user));
        }
        Reach::UserAndGuest { user, level } => {
            query.push("(t.owner_user_id = ").push_bind(uuid(user));
            if owned.can_be_shared() {
                query.push(" OR ");
                push_shared(query, user, level, owned);
            }
            query.push(")");
        }
        Reach::Guest { .. } if !owned.can_be_shared() => {
            query.push("FALSE");
        }
        Reach::Guest { user, level } => {
            push_shared_list(query, user, level, owned);
            query
                .push(" AND +t.owner_user_id <> ")
                .push_bind(uuid(user));
        }
        Reach::Key(key) => {
            query.push("t.owner_key_id = ").push_bind(uuid(key));
        }
        Reach::Tree(session) => {
            query.push("t.id IN ");
            push_tree(query, session, owned);
        }
    }
}

/// Adds the condition that `t` is shared with a user: for one thing whose id is known, from the thing to its boards.
fn push_shared(query: &mut Query, user: UserId, level: ShareLevel, owned: Owned) {
    query.push("EXISTS (SELECT 1 FROM board_shares b WHERE b.board_id ");
    query.push(match owned {
        // A worktree on a board brings the sessions of the board's owner that work in it, and nobody else's.
        Owned::Sessions => {
            "IN (SELECT t.board_id UNION ALL SELECT p.board_id FROM placements p
                WHERE p.item_id = t.id AND p.item_kind = 'session'
             UNION ALL SELECT p.board_id FROM placements p CROSS JOIN boards o ON o.id = p.board_id
                WHERE p.item_id = t.worktree_id AND p.item_kind = 'worktree' AND o.owner_user_id = t.owner_user_id)"
        }
        _ => "= t.id",
    });
    query.push(" AND ");
    push_given(query, user, level);
    query.push(")");
}

/// Adds the condition that the event `t` is about a board, a session or a turn that is shared with a user.
pub(crate) fn push_shared_event(query: &mut Query, user: UserId, level: ShareLevel) {
    query.push("(t.subject_kind = 'board' AND EXISTS (SELECT 1 FROM board_shares b WHERE b.board_id = t.subject_id AND ");
    push_given(query, user, level);
    // The inner `t` is the session; the columns without a table are the event's, since sessions have none of these names.
    query.push(
        ")) OR (t.subject_kind IN ('session', 'turn') AND EXISTS (SELECT 1 FROM sessions t
            WHERE t.id = CASE subject_kind WHEN 'session' THEN subject_id ELSE session_id END AND ",
    );
    push_shared(query, user, level, Owned::Sessions);
    query.push("))");
}

/// Adds the condition that `t` is shared with a user: for lists, from what the user is given to the things.
fn push_shared_list(query: &mut Query, user: UserId, level: ShareLevel, owned: Owned) {
    if owned == Owned::Boards {
        query.push("t.id IN (SELECT b.board_id FROM board_shares b WHERE ");
        push_given(query, user, level);
        query.push(")");
        return;
    }
    query.push("t.id IN (SELECT s.id FROM board_shares b CROSS JOIN sessions s ON s.board_id = b.board_id WHERE ");
    push_given(query, user, level);
    query.push(
        " UNION SELECT p.item_id FROM board_shares b CROSS JOIN placements p ON p.board_id = b.board_id
            AND p.item_kind = 'session' WHERE ",
    );
    push_given(query, user, level);
    query.push(
        " UNION SELECT s.id FROM board_shares b CROSS JOIN boards o ON o.id = b.board_id
            CROSS JOIN placements p ON p.board_id = b.board_id AND p.item_kind = 'worktree'
            CROSS JOIN sessions s ON s.worktree_id = p.item_id AND s.owner_user_id = o.owner_user_id WHERE ",
    );
    push_given(query, user, level);
    query.push(")");
}

/// Adds the condition that the grant `b` is for a user, at the level or above.
fn push_given(query: &mut Query, user: UserId, level: ShareLevel) {
    query.push("b.user_id IN (x'', ").push_bind(uuid(user));
    let enough = ShareLevel::ALL.into_iter().filter(|it| *it >= level);
    let enough: Vec<_> = enough.map(ShareLevel::as_str).collect();
    query.push(format_args!(") AND b.level IN ('{}')", enough.join("', '")));
}

/// Adds the conditions that `t`, a table with an owner, is what the caller may mean and lies within reach.
pub(crate) fn push_candidates(query: &mut Query, reach: Reach, owned: Owned, id: &IdRef) {
    push_id(query, id);
    // The plus keeps SQLite from going through everything of an owner: there are fewer of an id.
    query.push(" AND +");
    push_owned(query, reach, owned);
    query.push(format_args!(" ORDER BY t.id DESC LIMIT {CANDIDATES_MAX}"));
}

/// Adds a subquery that yields what a session and its descendants are, or work on.
pub(crate) fn push_tree(query: &mut Query, session: SessionId, owned: Owned) {
    let column = owned.tree_column();
    query
        .push("(WITH RECURSIVE tree (id, depth) AS (SELECT id, 0 FROM sessions WHERE id = ")
        .push_bind(uuid(session))
        .push(" UNION ALL SELECT s.id, tree.depth + 1 FROM tree CROSS JOIN sessions s ON s.parent_id = tree.id")
        .push(format_args!(" WHERE tree.depth < {DEPTH_MAX})"))
        .push(format_args!(
            " SELECT s.{column} FROM tree CROSS JOIN sessions s ON s.id = tree.id WHERE s.{column} IS NOT NULL)"
        ));
}

/// Adds the condition that `t.id` is what the caller may mean.
pub(crate) fn push_id(query: &mut Query, id: &IdRef) {
    match id {
        IdRef::Whole(id) => {
            query.push("t.id = ").push_bind(*id);
        }
        IdRef::Part(part) => {
            let (low, high) = part.prefix_range();
            query.push("(t.id BETWEEN ").push_bind(low);
            query.push(" AND ").push_bind(high);
            if let Some(short) = part.as_short().and_then(short_bytes) {
                query.push(" OR substr(t.id, 13) = ").push_bind(short);
            }
            query.push(")");
        }
    }
}

/// Returns the four bytes that 8 hex digits stand for.
pub(crate) fn short_bytes(digits: &str) -> Option<Vec<u8>> {
    let number = u32::from_str_radix(digits, 16).ok()?;
    Some(number.to_be_bytes().to_vec())
}

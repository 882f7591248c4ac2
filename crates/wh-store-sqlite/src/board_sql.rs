//! Reading boards: one statement yields the rows of several boards, their zones and their placements, so that a board
//! is read from one snapshot and with one trip to a connection.

use newtype_uuid::{GenericUuid, TypedUuid};
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;
use wh_domain::{
    AgentName, Board, BoardItem, Color, Description, Name, Owner, Placement, Position,
    PromptTemplate, Rect, Share, ShareLevel, ShareWith, UserName, Zone,
};
use wh_store::Result;

use crate::reach::Query;
use crate::row::{self, BadRow, Parsed};

/// How the kinds of items are stored.
pub(crate) const WORKTREE: &str = "worktree";
pub(crate) const SESSION: &str = "session";

/// A board that was read, or the reason why it cannot be.
pub(crate) struct Found {
    pub(crate) id: Uuid,
    board: Parsed<Board>,
}

impl Found {
    /// Returns the board that was asked for.
    pub(crate) fn direct(self) -> Result<Board> {
        row::direct("board", self.board)
    }

    /// Returns the board as one of a list, where an unreadable one is left out.
    pub(crate) fn listed(self) -> Option<Board> {
        let id = self.id;
        match self.board {
            Ok(board) => Some(board),
            Err(error) => {
                tracing::error!(%id, ?error, "a stored board cannot be read and is left out");
                None
            }
        }
    }
}

/// Begins a query for boards; the caller adds conditions on `t`, the order and the limit, then calls [`finish`].
pub(crate) fn begin() -> Query {
    Query::new("WITH found (id) AS MATERIALIZED (SELECT t.id FROM boards t WHERE ")
}

/// Completes the query: the chosen boards, newest first, each followed by its zones, its placements and its shares.
pub(crate) fn finish(mut query: Query) -> Query {
    query.push(
        ") SELECT b.id AS board_id, 0 AS part, 0 AS ord, b.owner_user_id AS id1, b.owner_key_id AS id2,
               b.name AS text1, b.description AS text2, NULL AS text3, NULL AS text4,
               b.revision AS int1, b.created_at AS int2, b.updated_at AS int3,
               NULL AS x, NULL AS y, NULL AS width, NULL AS height
           FROM found CROSS JOIN boards b ON b.id = found.id
         UNION ALL
         SELECT z.board_id, 1, z.ord, z.id, NULL, z.name, z.color, z.prompt_template, z.agent, NULL, NULL, NULL,
               z.x, z.y, z.width, z.height
           FROM found CROSS JOIN zones z ON z.board_id = found.id
         UNION ALL
         SELECT p.board_id, 2, p.ord, p.item_id, p.zone_id, p.item_kind, NULL, NULL, NULL, NULL, NULL, NULL,
               p.x, p.y, NULL, NULL
           FROM found CROSS JOIN placements p ON p.board_id = found.id
         UNION ALL
         SELECT s.board_id, 3, s.ord, u.id, NULL, u.name, s.level, NULL, NULL, NULL, NULL, NULL,
               NULL, NULL, NULL, NULL
           FROM found CROSS JOIN board_shares s ON s.board_id = found.id LEFT JOIN users u ON u.id = s.user_id
         ORDER BY 1 DESC, 2, 3",
    );
    query
}

/// Puts the rows together again.
pub(crate) fn collect(rows: &[SqliteRow]) -> Result<Vec<Found>> {
    let mut found: Vec<Found> = Vec::new();
    for row in rows {
        let id: Uuid = row::direct("board", row::get(row, "board_id"))?;
        let part: i64 = row::direct("board", row::get(row, "part"))?;
        if part == 0 {
            let board = board_row(row);
            found.push(Found { id, board });
        } else if let Some(Found { board, .. }) = found.last_mut()
            && let Err(problem) = add_part(board, part, row)
        {
            *board = Err(problem);
        }
    }
    Ok(found)
}

fn add_part(board: &mut Parsed<Board>, part: i64, row: &SqliteRow) -> Parsed<()> {
    let Ok(board) = board else {
        return Ok(());
    };
    match part {
        1 => board.zones.push(zone_row(row)?),
        2 => board.placements.push(placement_row(row)?),
        _ => board.shares.push(share_row(row)?),
    }
    Ok(())
}

fn board_row(row: &SqliteRow) -> Parsed<Board> {
    Ok(Board {
        id: row::id(row, "board_id")?,
        owner: Owner {
            user: row::id(row, "id1")?,
            key: row::id_opt(row, "id2")?,
        },
        name: row::parse(row, "text1", Name::parse)?,
        description: row::parse_opt(row, "text2", Description::parse)?,
        zones: Vec::new(),
        placements: Vec::new(),
        shares: Vec::new(),
        revision: row::count(row, "int1")?,
        created_at: row::time(row, "int2")?,
        updated_at: row::time(row, "int3")?,
    })
}

fn zone_row(row: &SqliteRow) -> Parsed<Zone> {
    Ok(Zone {
        id: row::id(row, "id1")?,
        name: row::parse(row, "text1", Name::parse)?,
        color: row::parse_opt(row, "text2", Color::parse)?,
        rect: Rect {
            x: row::get(row, "x")?,
            y: row::get(row, "y")?,
            width: row::get(row, "width")?,
            height: row::get(row, "height")?,
        },
        prompt_template: row::parse_opt(row, "text3", PromptTemplate::parse)?,
        agent: row::parse_opt(row, "text4", AgentName::parse)?,
    })
}

fn share_row(row: &SqliteRow) -> Parsed<Share> {
    let name = row::parse_opt(row, "text1", UserName::parse)?;
    let with = match name {
        Some(name) => ShareWith::User {
            id: row::id(row, "id1")?,
            name,
        },
        None => ShareWith::Everyone,
    };
    let level = row::parse_enum(row, "text2", ShareLevel::parse)?;
    Ok(Share { with, level })
}

fn placement_row(row: &SqliteRow) -> Parsed<Placement> {
    let id: Uuid = row::get(row, "id1")?;
    let item = match row::get::<&str>(row, "text1")? {
        WORKTREE => BoardItem::Worktree(TypedUuid::from_untyped_uuid(id)),
        SESSION => BoardItem::Session(TypedUuid::from_untyped_uuid(id)),
        other => return Err(BadRow::new("item_kind", format!("{other:?} is not known"))),
    };
    Ok(Placement {
        item,
        position: Position {
            x: row::get(row, "x")?,
            y: row::get(row, "y")?,
        },
        zone: row::id_opt(row, "id2")?,
    })
}

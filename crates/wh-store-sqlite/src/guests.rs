//! Who is given something that others own. What happens to it must be looked up; everybody else is told from memory alone.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard};

use sqlx::SqliteConnection;
use wh_domain::{Board, ShareWith, UserId};

use crate::row::uuid;

/// Everyone who was ever given something since the store was opened, and who was before. Nobody is taken out: that would only save
/// a look into the database.
pub(crate) struct Guests {
    /// As they stand in the database, see [`column`].
    users: Mutex<HashSet<Vec<u8>>>,
}

impl Guests {
    /// Reads who is given something.
    pub(crate) async fn read(conn: &mut SqliteConnection) -> sqlx::Result<Self> {
        let sql = "SELECT DISTINCT user_id FROM board_shares";
        let users: Vec<Vec<u8>> = sqlx::query_scalar(sql).fetch_all(conn).await?;
        Ok(Self {
            users: Mutex::new(users.into_iter().collect()),
        })
    }

    /// Adds those with whom a board is shared, before the change is committed.
    pub(crate) fn add(&self, board: &Board) {
        let users = board.shares.iter().map(|share| column(&share.with));
        self.lock().extend(users);
    }

    /// Tells whether something of others may be shared with a user.
    pub(crate) fn holds(&self, user: UserId) -> bool {
        let users = self.lock();
        users.contains(EVERYONE) || users.contains(&uuid(user).as_bytes()[..])
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<Vec<u8>>> {
        self.users.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// Stands for everyone where a user could stand.
const EVERYONE: &[u8] = &[];

/// Returns with whom something is shared, as it stands in the database.
pub(crate) fn column(with: &ShareWith) -> Vec<u8> {
    match with {
        ShareWith::Everyone => EVERYONE.to_vec(),
        ShareWith::User { id, .. } => uuid(*id).as_bytes().to_vec(),
    }
}

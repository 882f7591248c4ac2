-- Whom boards are shared with, and through them the sessions that are on them.
CREATE TABLE board_shares (
    board_id BLOB NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    -- Empty: everyone.
    user_id  BLOB NOT NULL CHECK (length(user_id) IN (0, 16)),
    ord      INTEGER NOT NULL,
    level    TEXT NOT NULL,
    PRIMARY KEY (board_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX board_shares_user ON board_shares (user_id, board_id, level);

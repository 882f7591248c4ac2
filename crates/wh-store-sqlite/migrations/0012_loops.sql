-- Loops: a fresh session for each iteration, over one list of tasks and one worktree.
CREATE TABLE loops (
    id                  BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner_user_id       BLOB NOT NULL REFERENCES users (id),
    owner_key_id        BLOB REFERENCES keys (id),
    title               TEXT NOT NULL,
    repo_id             BLOB NOT NULL REFERENCES repos (id),
    worktree_id         BLOB NOT NULL REFERENCES worktrees (id),
    board_id            BLOB REFERENCES boards (id) ON DELETE SET NULL,
    agent               TEXT NOT NULL,
    mode                TEXT,
    policy              TEXT,
    spec                TEXT NOT NULL,
    template            TEXT,
    iterations_max      INTEGER NOT NULL CHECK (iterations_max >= 1),
    budget_tokens       INTEGER,
    budget_cost_micros  INTEGER,
    budget_wall_seconds INTEGER,
    budget_turns        INTEGER,
    used_input_tokens   INTEGER NOT NULL DEFAULT 0,
    used_cached_tokens  INTEGER NOT NULL DEFAULT 0,
    used_output_tokens  INTEGER NOT NULL DEFAULT 0,
    used_cost_micros    INTEGER NOT NULL DEFAULT 0,
    used_wall_seconds   INTEGER NOT NULL DEFAULT 0,
    used_turns          INTEGER NOT NULL DEFAULT 0,
    state               TEXT NOT NULL,
    iteration           INTEGER NOT NULL CHECK (iteration >= 0),
    -- The session that is at work; it may be deleted later, and that is found out.
    session_id          BLOB,
    outcome             TEXT,
    outcome_detail      TEXT,
    wish                TEXT NOT NULL,
    idle                INTEGER NOT NULL DEFAULT 0,
    revision            INTEGER NOT NULL,
    created_at          INTEGER NOT NULL,
    updated_at          INTEGER NOT NULL
) STRICT;
CREATE INDEX loops_short ON loops (substr(id, 13));
CREATE INDEX loops_owner ON loops (owner_user_id, id);
CREATE INDEX loops_owner_key ON loops (owner_key_id, id) WHERE owner_key_id IS NOT NULL;
CREATE INDEX loops_open ON loops (state) WHERE state <> 'ended';
CREATE INDEX loops_board ON loops (board_id) WHERE board_id IS NOT NULL;

CREATE TABLE loop_iterations (
    loop_id            BLOB NOT NULL REFERENCES loops (id) ON DELETE CASCADE,
    number             INTEGER NOT NULL CHECK (number >= 1),
    session_id         BLOB REFERENCES sessions (id) ON DELETE SET NULL,
    mark               TEXT NOT NULL,
    ending             TEXT,
    reason             TEXT,
    changed            INTEGER NOT NULL DEFAULT 0 CHECK (changed IN (0, 1)),
    used_input_tokens  INTEGER NOT NULL DEFAULT 0,
    used_cached_tokens INTEGER NOT NULL DEFAULT 0,
    used_output_tokens INTEGER NOT NULL DEFAULT 0,
    used_cost_micros   INTEGER NOT NULL DEFAULT 0,
    used_wall_seconds  INTEGER NOT NULL DEFAULT 0,
    used_turns         INTEGER NOT NULL DEFAULT 0,
    began_at           INTEGER NOT NULL,
    ended_at           INTEGER,
    PRIMARY KEY (loop_id, number)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX loop_iterations_session ON loop_iterations (session_id) WHERE session_id IS NOT NULL;

CREATE TABLE loop_log (
    loop_id   BLOB NOT NULL REFERENCES loops (id) ON DELETE CASCADE,
    seq       INTEGER NOT NULL CHECK (seq >= 1),
    at        INTEGER NOT NULL,
    iteration INTEGER NOT NULL,
    about     TEXT NOT NULL,
    text      TEXT NOT NULL,
    PRIMARY KEY (loop_id, seq)
) STRICT, WITHOUT ROWID;

-- A list may belong to a loop too.
CREATE TABLE task_lists_new (
    id            BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner_user_id BLOB NOT NULL REFERENCES users (id),
    owner_key_id  BLOB REFERENCES keys (id),
    session_id    BLOB UNIQUE REFERENCES sessions (id) ON DELETE CASCADE,
    board_id      BLOB UNIQUE REFERENCES boards (id) ON DELETE CASCADE,
    loop_id       BLOB UNIQUE REFERENCES loops (id) ON DELETE CASCADE,
    name          TEXT,
    completed_at  INTEGER,
    created_at    INTEGER NOT NULL,
    CHECK ((session_id IS NOT NULL) + (board_id IS NOT NULL) + (loop_id IS NOT NULL) + (name IS NOT NULL) = 1)
) STRICT;
INSERT INTO task_lists_new (id, owner_user_id, owner_key_id, session_id, board_id, name, completed_at, created_at)
    SELECT id, owner_user_id, owner_key_id, session_id, board_id, name, completed_at, created_at FROM task_lists;
DROP TABLE task_lists;
ALTER TABLE task_lists_new RENAME TO task_lists;
CREATE UNIQUE INDEX task_lists_name ON task_lists (owner_user_id, coalesce(owner_key_id, x''), name) WHERE name IS NOT NULL;

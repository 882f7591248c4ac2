-- Lists of tasks that several agents work through. The tables that were foreseen for them knew only trees of sessions, and
-- nothing was ever written into them.
DROP TABLE task_dependencies;
DROP TABLE tasks;
DROP TABLE notes;
DROP TABLE iterations;
DROP TABLE loops;

-- A list belongs to a tree of sessions, by its root, to a board, or has a name that its owner chose.
CREATE TABLE task_lists (
    id            BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner_user_id BLOB NOT NULL REFERENCES users (id),
    owner_key_id  BLOB REFERENCES keys (id),
    session_id    BLOB UNIQUE REFERENCES sessions (id) ON DELETE CASCADE,
    board_id      BLOB UNIQUE REFERENCES boards (id) ON DELETE CASCADE,
    name          TEXT,
    completed_at  INTEGER,
    created_at    INTEGER NOT NULL,
    CHECK ((session_id IS NOT NULL) + (board_id IS NOT NULL) + (name IS NOT NULL) = 1)
) STRICT;
CREATE UNIQUE INDEX task_lists_name ON task_lists (owner_user_id, coalesce(owner_key_id, x''), name) WHERE name IS NOT NULL;

CREATE TABLE tasks (
    id            BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    list_id       BLOB NOT NULL REFERENCES task_lists (id) ON DELETE CASCADE,
    number        INTEGER NOT NULL CHECK (number >= 1),
    content       TEXT NOT NULL CHECK (content <> ''),
    status        TEXT NOT NULL,
    priority      INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 4),
    -- Who has it: a session, or a caller with a key or without one. Nobody when nothing says that it is claimed.
    claimed       INTEGER NOT NULL DEFAULT 0 CHECK (claimed IN (0, 1)),
    claim_session BLOB REFERENCES sessions (id) ON DELETE SET NULL,
    claim_key     BLOB,
    claim_until   INTEGER,
    -- The wish that it was given last.
    wish_id       BLOB UNIQUE,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    UNIQUE (list_id, number)
) STRICT;
CREATE INDEX tasks_short ON tasks (substr(id, 13));
CREATE INDEX tasks_next ON tasks (list_id, status, priority, number);
CREATE INDEX tasks_claim_session ON tasks (claim_session) WHERE claim_session IS NOT NULL;

CREATE TABLE task_dependencies (
    task_id    BLOB NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    depends_on BLOB NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    PRIMARY KEY (task_id, depends_on),
    CHECK (task_id <> depends_on)
) STRICT, WITHOUT ROWID;
CREATE INDEX task_dependencies_on ON task_dependencies (depends_on);

CREATE TABLE notes (
    id         BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    list_id    BLOB NOT NULL REFERENCES task_lists (id) ON DELETE CASCADE,
    kind       TEXT NOT NULL,
    content    TEXT NOT NULL CHECK (content <> ''),
    session_id BLOB REFERENCES sessions (id) ON DELETE SET NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX notes_list ON notes (list_id);
CREATE INDEX notes_session ON notes (session_id) WHERE session_id IS NOT NULL;

CREATE TABLE iterations (
    list_id    BLOB NOT NULL REFERENCES task_lists (id) ON DELETE CASCADE,
    number     INTEGER NOT NULL CHECK (number >= 1),
    session_id BLOB REFERENCES sessions (id) ON DELETE SET NULL,
    summary    TEXT NOT NULL CHECK (summary <> ''),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (list_id, number)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX iterations_session ON iterations (session_id, list_id) WHERE session_id IS NOT NULL;

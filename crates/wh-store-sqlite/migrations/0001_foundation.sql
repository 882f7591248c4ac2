-- Everything the first version keeps. Ids are the 16 bytes of a UUIDv7, times are microseconds since 1970, and texts
-- that stand for an enum are checked when they are read: a row that this version cannot read spoils only itself.

-- Facts about the database itself.
CREATE TABLE meta (
    name  TEXT NOT NULL PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO meta (name, value) VALUES ('health_probes', 0);

CREATE TABLE users (
    id         BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    name       TEXT NOT NULL UNIQUE CHECK (name <> ''),
    role       TEXT NOT NULL,
    email      TEXT,
    avatar_url TEXT,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX users_short ON users (substr(id, 13));

CREATE TABLE repos (
    id             BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner_user_id  BLOB NOT NULL REFERENCES users (id),
    owner_key_id   BLOB REFERENCES keys (id),
    name           TEXT NOT NULL CHECK (name <> ''),
    source_kind    TEXT NOT NULL,
    source         TEXT NOT NULL CHECK (source <> ''),
    default_branch TEXT,
    created_at     INTEGER NOT NULL
) STRICT;
CREATE INDEX repos_short ON repos (substr(id, 13));
CREATE INDEX repos_owner_user ON repos (owner_user_id, id);
CREATE INDEX repos_owner_key ON repos (owner_key_id, id) WHERE owner_key_id IS NOT NULL;
-- A name is free for each owner: what one client key sees must not depend on what others have.
CREATE UNIQUE INDEX repos_owner_name ON repos (owner_user_id, coalesce(owner_key_id, x''), name);

CREATE TABLE boards (
    id            BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner_user_id BLOB NOT NULL REFERENCES users (id),
    owner_key_id  BLOB REFERENCES keys (id),
    name          TEXT NOT NULL CHECK (name <> ''),
    description   TEXT,
    revision      INTEGER NOT NULL CHECK (revision >= 0),
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX boards_short ON boards (substr(id, 13));
CREATE INDEX boards_owner_user ON boards (owner_user_id, id);
CREATE INDEX boards_owner_key ON boards (owner_key_id, id) WHERE owner_key_id IS NOT NULL;

CREATE TABLE zones (
    board_id        BLOB NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    id              BLOB NOT NULL CHECK (length(id) = 16),
    ord             INTEGER NOT NULL,
    name            TEXT NOT NULL CHECK (name <> ''),
    color           TEXT,
    x               REAL NOT NULL,
    y               REAL NOT NULL,
    width           REAL NOT NULL CHECK (width > 0),
    height          REAL NOT NULL CHECK (height > 0),
    prompt_template TEXT,
    PRIMARY KEY (board_id, id)
) STRICT, WITHOUT ROWID;

-- What lies on a board may be gone by now, so items are not foreign keys; zones are part of the board.
CREATE TABLE placements (
    board_id  BLOB NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    item_kind TEXT NOT NULL CHECK (item_kind IN ('worktree', 'session')),
    item_id   BLOB NOT NULL CHECK (length(item_id) = 16),
    ord       INTEGER NOT NULL,
    x         REAL NOT NULL,
    y         REAL NOT NULL,
    zone_id   BLOB,
    PRIMARY KEY (board_id, item_kind, item_id),
    FOREIGN KEY (board_id, zone_id) REFERENCES zones (board_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX placements_item ON placements (item_id);

CREATE TABLE worktrees (
    id            BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner_user_id BLOB NOT NULL REFERENCES users (id),
    owner_key_id  BLOB REFERENCES keys (id),
    repo_id       BLOB NOT NULL REFERENCES repos (id),
    board_id      BLOB REFERENCES boards (id),
    name          TEXT NOT NULL CHECK (name <> ''),
    branch        TEXT NOT NULL CHECK (branch <> ''),
    base_sha      TEXT,
    path          TEXT NOT NULL UNIQUE CHECK (path <> ''),
    created_at    INTEGER NOT NULL,
    removed_at    INTEGER
) STRICT;
CREATE INDEX worktrees_short ON worktrees (substr(id, 13));
CREATE INDEX worktrees_owner_user ON worktrees (owner_user_id, id);
CREATE INDEX worktrees_owner_key ON worktrees (owner_key_id, id) WHERE owner_key_id IS NOT NULL;
CREATE INDEX worktrees_board ON worktrees (board_id, id) WHERE board_id IS NOT NULL;
-- Git refuses to check one branch out twice; so do we, as long as the checkout is there.
CREATE UNIQUE INDEX worktrees_branch ON worktrees (repo_id, branch) WHERE removed_at IS NULL;

-- The worktree is not a foreign key: a session may name a checkout that is made, or removed, beside the database.
CREATE TABLE sessions (
    id                  BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner_user_id       BLOB NOT NULL REFERENCES users (id),
    owner_key_id        BLOB REFERENCES keys (id),
    title               TEXT NOT NULL CHECK (title <> ''),
    description         TEXT,
    agent               TEXT NOT NULL CHECK (agent <> ''),
    role                TEXT NOT NULL,
    state               TEXT NOT NULL,
    state_turn_id       BLOB,
    state_since         INTEGER,
    state_pending       INTEGER,
    state_review_id     BLOB,
    state_kill_at       INTEGER,
    state_reason        TEXT,
    archived            INTEGER NOT NULL DEFAULT 0 CHECK (archived IN (0, 1)),
    parent_id           BLOB REFERENCES sessions (id),
    root_id             BLOB NOT NULL REFERENCES sessions (id),
    depth               INTEGER NOT NULL CHECK (depth >= 0),
    repo_id             BLOB REFERENCES repos (id),
    worktree_id         BLOB,
    board_id            BLOB REFERENCES boards (id),
    epoch               INTEGER NOT NULL CHECK (epoch >= 0),
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
    last_seq            INTEGER NOT NULL DEFAULT 0 CHECK (last_seq >= 0),
    last_words          TEXT,
    created_at          INTEGER NOT NULL,
    updated_at          INTEGER NOT NULL,
    CHECK ((parent_id IS NULL) = (depth = 0)),
    CHECK ((parent_id IS NULL) = (root_id = id))
) STRICT;
CREATE INDEX sessions_short ON sessions (substr(id, 13));
CREATE INDEX sessions_owner_user ON sessions (owner_user_id, id);
CREATE INDEX sessions_owner_key ON sessions (owner_key_id, id) WHERE owner_key_id IS NOT NULL;
CREATE INDEX sessions_parent ON sessions (parent_id, id) WHERE parent_id IS NOT NULL;
CREATE INDEX sessions_root ON sessions (root_id, id);
CREATE INDEX sessions_board ON sessions (board_id, id) WHERE board_id IS NOT NULL;
CREATE INDEX sessions_worktree ON sessions (worktree_id, id) WHERE worktree_id IS NOT NULL;
CREATE INDEX sessions_state ON sessions (state, id);
CREATE INDEX sessions_owner_state ON sessions (owner_user_id, state, id);

CREATE TABLE keys (
    id            BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    user_id       BLOB NOT NULL REFERENCES users (id),
    name          TEXT NOT NULL CHECK (name <> ''),
    scope         TEXT NOT NULL,
    prefix        TEXT NOT NULL UNIQUE CHECK (prefix <> ''),
    hash          BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    session_id    BLOB REFERENCES sessions (id) ON DELETE CASCADE,
    session_epoch INTEGER,
    created_at    INTEGER NOT NULL,
    expires_at    INTEGER,
    last_used_at  INTEGER,
    revoked_at    INTEGER,
    CHECK ((session_id IS NULL) = (session_epoch IS NULL))
) STRICT;
CREATE INDEX keys_short ON keys (substr(id, 13));
CREATE INDEX keys_user ON keys (user_id, id);
CREATE INDEX keys_session ON keys (session_id) WHERE session_id IS NOT NULL;

CREATE TABLE turns (
    id                 BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    session_id         BLOB NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    number             INTEGER NOT NULL CHECK (number >= 1),
    prompt             TEXT NOT NULL,
    state              TEXT NOT NULL,
    commit_before      TEXT,
    commit_after       TEXT,
    used_input_tokens  INTEGER NOT NULL DEFAULT 0,
    used_cached_tokens INTEGER NOT NULL DEFAULT 0,
    used_output_tokens INTEGER NOT NULL DEFAULT 0,
    used_cost_micros   INTEGER NOT NULL DEFAULT 0,
    used_wall_seconds  INTEGER NOT NULL DEFAULT 0,
    created_at         INTEGER NOT NULL,
    finished_at        INTEGER,
    UNIQUE (session_id, number)
) STRICT;
CREATE INDEX turns_short ON turns (substr(id, 13));
CREATE INDEX turns_open ON turns (session_id, state) WHERE finished_at IS NULL;

-- The full-text index finds a message by `row`, which therefore has to survive a VACUUM.
CREATE TABLE messages (
    row        INTEGER PRIMARY KEY,
    id         BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
    session_id BLOB NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    seq        INTEGER NOT NULL CHECK (seq >= 1),
    turn_id    BLOB,
    kind       TEXT NOT NULL,
    text       TEXT NOT NULL,
    detail     TEXT,
    created_at INTEGER NOT NULL,
    UNIQUE (session_id, seq)
) STRICT;
CREATE INDEX messages_short ON messages (substr(id, 13));
CREATE INDEX messages_turn ON messages (turn_id) WHERE turn_id IS NOT NULL;

CREATE VIRTUAL TABLE messages_fts USING fts5 (
    text, content = 'messages', content_rowid = 'row', tokenize = 'unicode61 remove_diacritics 2'
);
CREATE TRIGGER messages_fts_insert AFTER INSERT ON messages BEGIN
    INSERT INTO messages_fts (rowid, text) VALUES (new.row, new.text);
END;
CREATE TRIGGER messages_fts_delete AFTER DELETE ON messages BEGIN
    INSERT INTO messages_fts (messages_fts, rowid, text) VALUES ('delete', old.row, old.text);
END;
CREATE TRIGGER messages_fts_update AFTER UPDATE OF text ON messages BEGIN
    INSERT INTO messages_fts (messages_fts, rowid, text) VALUES ('delete', old.row, old.text);
    INSERT INTO messages_fts (rowid, text) VALUES (new.row, new.text);
END;

CREATE TABLE approvals (
    id          BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    session_id  BLOB NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    turn_id     BLOB,
    epoch       INTEGER NOT NULL,
    kind        TEXT NOT NULL,
    state       TEXT NOT NULL,
    -- What is asked, in words, and the rest of it as JSON: options, the exact command, the plan.
    text        TEXT NOT NULL,
    detail      TEXT,
    answer      TEXT,
    answered_by BLOB REFERENCES users (id),
    expires_at  INTEGER,
    created_at  INTEGER NOT NULL,
    settled_at  INTEGER,
    CHECK ((state = 'pending') = (settled_at IS NULL))
) STRICT;
CREATE INDEX approvals_short ON approvals (substr(id, 13));
CREATE INDEX approvals_session ON approvals (session_id, id);
CREATE INDEX approvals_pending ON approvals (expires_at) WHERE state = 'pending';

CREATE TABLE deliveries (
    id           BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    kind         TEXT NOT NULL,
    state        TEXT NOT NULL,
    -- The session it is about; a callback also has the session that is told, a webhook the address.
    session_id   BLOB NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    target_id    BLOB REFERENCES sessions (id) ON DELETE CASCADE,
    target_url   TEXT,
    text         TEXT NOT NULL,
    detail       TEXT,
    attempts     INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    last_error   TEXT,
    due_at       INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    delivered_at INTEGER,
    CHECK ((target_id IS NULL) <> (target_url IS NULL))
) STRICT;
CREATE INDEX deliveries_due ON deliveries (due_at) WHERE state = 'pending';
CREATE INDEX deliveries_session ON deliveries (session_id, id);
CREATE INDEX deliveries_target ON deliveries (target_id, id) WHERE target_id IS NOT NULL;

-- A loop is a session of its own kind: it runs a fresh agent per iteration until the work is done.
CREATE TABLE loops (
    session_id     BLOB NOT NULL PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    state          TEXT NOT NULL,
    goal           TEXT NOT NULL,
    iterations_max INTEGER CHECK (iterations_max > 0),
    created_at     INTEGER NOT NULL,
    finished_at    INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE iterations (
    loop_id     BLOB NOT NULL REFERENCES loops (session_id) ON DELETE CASCADE,
    number      INTEGER NOT NULL CHECK (number >= 1),
    session_id  BLOB REFERENCES sessions (id),
    state       TEXT NOT NULL,
    summary     TEXT,
    created_at  INTEGER NOT NULL,
    finished_at INTEGER,
    PRIMARY KEY (loop_id, number)
) STRICT, WITHOUT ROWID;

-- Tasks and notes belong to the root of a tree, so that every iteration and child works on the same list.
CREATE TABLE tasks (
    id         BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    root_id    BLOB NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    number     INTEGER NOT NULL CHECK (number >= 1),
    content    TEXT NOT NULL CHECK (content <> ''),
    status     TEXT NOT NULL,
    priority   INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 4),
    iteration  INTEGER,
    created_by BLOB REFERENCES sessions (id),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (root_id, number)
) STRICT;
CREATE INDEX tasks_short ON tasks (substr(id, 13));
CREATE INDEX tasks_next ON tasks (root_id, status, priority, number);

CREATE TABLE task_dependencies (
    task_id    BLOB NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    depends_on BLOB NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    PRIMARY KEY (task_id, depends_on),
    CHECK (task_id <> depends_on)
) STRICT, WITHOUT ROWID;
CREATE INDEX task_dependencies_on ON task_dependencies (depends_on);

CREATE TABLE notes (
    id         BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    root_id    BLOB NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    kind       TEXT NOT NULL,
    content    TEXT NOT NULL CHECK (content <> ''),
    iteration  INTEGER,
    created_by BLOB REFERENCES sessions (id),
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX notes_root ON notes (root_id, kind, id);

CREATE TABLE reviews (
    id                  BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    session_id          BLOB NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    round               INTEGER NOT NULL CHECK (round >= 1),
    state               TEXT NOT NULL,
    reviewer_session_id BLOB REFERENCES sessions (id),
    commit_sha          TEXT,
    prompt              TEXT,
    expires_at          INTEGER NOT NULL,
    created_at          INTEGER NOT NULL,
    finished_at         INTEGER,
    UNIQUE (session_id, round)
) STRICT;
CREATE INDEX reviews_short ON reviews (substr(id, 13));
CREATE INDEX reviews_reviewer ON reviews (reviewer_session_id) WHERE reviewer_session_id IS NOT NULL;
CREATE INDEX reviews_open ON reviews (expires_at) WHERE finished_at IS NULL;

CREATE TABLE feedback (
    id         BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    review_id  BLOB NOT NULL REFERENCES reviews (id) ON DELETE CASCADE,
    kind       TEXT NOT NULL,
    priority   TEXT,
    content    TEXT NOT NULL,
    -- A JSON array of texts.
    items      TEXT,
    commit_sha TEXT,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX feedback_review ON feedback (review_id, id);

-- AUTOINCREMENT: a number is never given twice, even when everything before it is forgotten.
CREATE TABLE events (
    seq           INTEGER PRIMARY KEY AUTOINCREMENT,
    at            INTEGER NOT NULL,
    kind          TEXT NOT NULL,
    subject_kind  TEXT NOT NULL,
    subject_id    BLOB NOT NULL,
    owner_user_id BLOB NOT NULL,
    owner_key_id  BLOB,
    session_id    BLOB,
    actor_id      BLOB,
    facts         TEXT
) STRICT;
CREATE INDEX events_owner_user ON events (owner_user_id, seq);
CREATE INDEX events_owner_key ON events (owner_key_id, seq) WHERE owner_key_id IS NOT NULL;

-- The log names what was, so nothing in it is a foreign key.
CREATE TABLE audit (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    at           INTEGER NOT NULL,
    request_id   BLOB NOT NULL,
    user_id      BLOB NOT NULL,
    credential   TEXT NOT NULL,
    key_id       BLOB,
    session_id   BLOB,
    surface      TEXT NOT NULL,
    operation    TEXT NOT NULL,
    subject_kind TEXT,
    subject_id   BLOB,
    -- Absent when the call was done; otherwise why it was not.
    refused      TEXT,
    facts        TEXT
) STRICT;
CREATE INDEX audit_user ON audit (user_id, seq);
CREATE INDEX audit_key ON audit (key_id, seq) WHERE key_id IS NOT NULL;
CREATE INDEX audit_session ON audit (session_id, seq) WHERE session_id IS NOT NULL;
CREATE INDEX audit_operation ON audit (operation, seq);

CREATE TABLE settings (
    name       TEXT NOT NULL PRIMARY KEY,
    -- Absent: set to "without limit", which is not the same as not set.
    value      INTEGER,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- `key_id` is empty for a credential without a key, so that it can be part of the primary key.
CREATE TABLE idempotency (
    user_id      BLOB NOT NULL,
    key_id       BLOB NOT NULL,
    mark         TEXT NOT NULL,
    operation    TEXT NOT NULL,
    request      BLOB NOT NULL CHECK (length(request) = 32),
    subject_kind TEXT NOT NULL,
    subject_id   BLOB NOT NULL,
    at           INTEGER NOT NULL,
    PRIMARY KEY (user_id, key_id, mark)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_at ON idempotency (at);

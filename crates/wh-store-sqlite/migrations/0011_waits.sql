-- Waits for sessions that outlive the call that began them.
CREATE TABLE waits (
    id            BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner_user_id BLOB NOT NULL REFERENCES users (id),
    owner_key_id  BLOB REFERENCES keys (id),
    -- The session whose agent waits.
    by_id         BLOB REFERENCES sessions (id) ON DELETE CASCADE,
    -- Ids as a JSON array of texts.
    sessions      TEXT NOT NULL,
    wait_for      TEXT NOT NULL,
    until         INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    ended_at      INTEGER,
    ending        TEXT,
    -- The sessions as they were then.
    came_to       TEXT,
    CHECK ((ended_at IS NULL) = (ending IS NULL))
) STRICT;
CREATE INDEX waits_open ON waits (created_at) WHERE ended_at IS NULL;

-- What it takes to run a session: where it works, what its agent may do, the lives of its process, and who sent what.

-- A directory that is not a worktree of ours; the worktree says where it is itself.
ALTER TABLE sessions ADD COLUMN path TEXT;
ALTER TABLE sessions ADD COLUMN mode TEXT;
-- JSON; absent: the default policy.
ALTER TABLE sessions ADD COLUMN policy TEXT;

CREATE TABLE runs (
    session_id   BLOB NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    epoch        INTEGER NOT NULL CHECK (epoch >= 1),
    -- Names what was; the key goes with the session.
    key_id       BLOB NOT NULL CHECK (length(key_id) = 16),
    journal_seq  INTEGER NOT NULL DEFAULT 0 CHECK (journal_seq >= 0),
    -- The agent's own name for the conversation.
    conversation TEXT,
    can_load     INTEGER NOT NULL DEFAULT 0 CHECK (can_load IN (0, 1)),
    can_resume   INTEGER NOT NULL DEFAULT 0 CHECK (can_resume IN (0, 1)),
    tools        TEXT NOT NULL,
    started_at   INTEGER NOT NULL,
    ready_at     INTEGER,
    ended_at     INTEGER,
    ending       TEXT,
    PRIMARY KEY (session_id, epoch)
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_open ON runs (session_id) WHERE ended_at IS NULL;

ALTER TABLE turns ADD COLUMN sender_user_id BLOB;
ALTER TABLE turns ADD COLUMN sender_session_id BLOB;
ALTER TABLE turns ADD COLUMN urgent INTEGER NOT NULL DEFAULT 0 CHECK (urgent IN (0, 1));
ALTER TABLE turns ADD COLUMN cancel_requested INTEGER NOT NULL DEFAULT 0 CHECK (cancel_requested IN (0, 1));
ALTER TABLE turns ADD COLUMN reason TEXT;
CREATE INDEX turns_queued ON turns (session_id, urgent DESC, number) WHERE state = 'queued';

-- By this a message that grows, such as a tool call, is found again.
ALTER TABLE messages ADD COLUMN reference TEXT;
CREATE UNIQUE INDEX messages_reference ON messages (session_id, reference) WHERE reference IS NOT NULL;

-- The run's own name for the request, and whether the agent knows the answer.
ALTER TABLE approvals ADD COLUMN request TEXT NOT NULL DEFAULT '';
ALTER TABLE approvals ADD COLUMN always INTEGER NOT NULL DEFAULT 0 CHECK (always IN (0, 1));
ALTER TABLE approvals ADD COLUMN told INTEGER NOT NULL DEFAULT 0 CHECK (told IN (0, 1));
CREATE UNIQUE INDEX approvals_request ON approvals (session_id, epoch, request);
CREATE INDEX approvals_untold ON approvals (session_id) WHERE told = 0;

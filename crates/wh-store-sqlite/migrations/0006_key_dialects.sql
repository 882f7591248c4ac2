-- Keys for dialects, and keys that may rename one session.

-- The dialect that a key was made for: it opens no other address.
ALTER TABLE keys ADD COLUMN dialect TEXT;

-- Bound to a session and to none of its runs. It has a column of its own because session_id goes with a run, and a new run
-- revokes what the one before it had.
ALTER TABLE keys ADD COLUMN bound_session_id BLOB REFERENCES sessions (id) ON DELETE CASCADE;
CREATE INDEX keys_bound_session ON keys (bound_session_id) WHERE bound_session_id IS NOT NULL;

-- Users who are not let in any more. What is theirs stays; nothing of it runs.
ALTER TABLE users ADD COLUMN disabled_at INTEGER;
CREATE INDEX users_disabled ON users (id) WHERE disabled_at IS NOT NULL;

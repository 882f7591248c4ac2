-- A deleted repository keeps its row for what was done in it, and leaves its name to others.
ALTER TABLE repos ADD COLUMN deleted_at INTEGER;
DROP INDEX repos_owner_name;
CREATE UNIQUE INDEX repos_owner_name ON repos (owner_user_id, coalesce(owner_key_id, x''), name) WHERE deleted_at IS NULL;
CREATE INDEX sessions_repo ON sessions (repo_id, id) WHERE repo_id IS NOT NULL;

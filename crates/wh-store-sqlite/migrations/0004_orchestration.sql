-- Sessions that direct sessions: what a child may do, what a tree has used, and what a parent is to be told.

-- The roles of the sessions above, separated by commas.
ALTER TABLE sessions ADD COLUMN lineage TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN callback INTEGER NOT NULL DEFAULT 0 CHECK (callback IN (0, 1));
-- What the descendants have used.
ALTER TABLE sessions ADD COLUMN below_input_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN below_cached_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN below_output_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN below_cost_micros INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN below_wall_seconds INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN below_turns INTEGER NOT NULL DEFAULT 0;
-- Counts the spawns of a tree within a time.
CREATE INDEX sessions_root_created ON sessions (root_id, created_at);

-- What happened, which approval it is about, and the turn by which the parent was told.
ALTER TABLE deliveries ADD COLUMN news TEXT NOT NULL DEFAULT 'finished';
ALTER TABLE deliveries ADD COLUMN approval_id BLOB;
ALTER TABLE deliveries ADD COLUMN turn_id BLOB;
CREATE INDEX deliveries_pending ON deliveries (target_id) WHERE state = 'pending' AND target_id IS NOT NULL;

-- Zones that begin a session for a worktree that has none to prompt.
ALTER TABLE zones ADD COLUMN agent TEXT;

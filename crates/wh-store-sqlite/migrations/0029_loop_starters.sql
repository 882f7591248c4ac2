-- The session that started a loop, and the limits that the loop has from it.
ALTER TABLE loops ADD COLUMN started_by BLOB REFERENCES sessions (id) ON DELETE SET NULL;
ALTER TABLE loops ADD COLUMN tier TEXT;
-- A JSON array of rules.
ALTER TABLE loops ADD COLUMN hosts TEXT;
CREATE INDEX loops_started_by ON loops (started_by) WHERE started_by IS NOT NULL;

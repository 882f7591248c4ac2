-- How far a session's processes are to be contained; absent for sessions from before, which have the default.
ALTER TABLE sessions ADD COLUMN tier TEXT;
-- How far those of its latest run are.
ALTER TABLE sessions ADD COLUMN effective_tier TEXT;
-- How far the processes of a run were contained.
ALTER TABLE runs ADD COLUMN tier TEXT;
-- The least that sessions in this repository need.
ALTER TABLE repos ADD COLUMN tier TEXT;

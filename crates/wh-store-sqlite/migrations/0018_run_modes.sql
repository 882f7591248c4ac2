-- The agent's way of working in a run, as it said itself.
ALTER TABLE runs ADD COLUMN mode TEXT;

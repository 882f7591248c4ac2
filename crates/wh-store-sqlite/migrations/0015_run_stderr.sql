-- The last that the agent's program of a run wrote to its stderr.
ALTER TABLE runs ADD COLUMN stderr TEXT;

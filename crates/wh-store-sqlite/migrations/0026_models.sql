-- The model that a session asked for, and the one that its agent says it uses.
ALTER TABLE sessions ADD COLUMN model TEXT;
ALTER TABLE sessions ADD COLUMN current_model TEXT;
ALTER TABLE loops ADD COLUMN model TEXT;
-- The commands that the agent announced: a JSON array of [name, description].
ALTER TABLE runs ADD COLUMN commands TEXT;
-- The models that an agent offered last: a JSON array of [id, name].
CREATE TABLE agent_models (
    agent   TEXT NOT NULL PRIMARY KEY,
    models  TEXT NOT NULL,
    seen_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

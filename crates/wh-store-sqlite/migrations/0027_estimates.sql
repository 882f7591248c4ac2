-- How much of a cost was computed from tokens and a price list, because the agent reported no money.
ALTER TABLE sessions ADD COLUMN used_estimated_micros INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN below_estimated_micros INTEGER NOT NULL DEFAULT 0;
ALTER TABLE turns ADD COLUMN used_estimated_micros INTEGER NOT NULL DEFAULT 0;
ALTER TABLE loops ADD COLUMN used_estimated_micros INTEGER NOT NULL DEFAULT 0;
ALTER TABLE loop_iterations ADD COLUMN used_estimated_micros INTEGER NOT NULL DEFAULT 0;
-- With the new column, so that sums still read the index alone. This takes a while where there are millions of turns.
DROP INDEX turns_finished;
CREATE INDEX turns_finished ON turns (finished_at, session_id, number, used_input_tokens, used_cached_tokens,
    used_output_tokens, used_cost_micros, used_estimated_micros, used_wall_seconds) WHERE finished_at IS NOT NULL;
-- What all sessions of a user used on a day (days since 1 January 1970, UTC).
CREATE TABLE user_days (
    user_id            BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    day                INTEGER NOT NULL,
    used_input_tokens  INTEGER NOT NULL DEFAULT 0,
    used_cached_tokens INTEGER NOT NULL DEFAULT 0,
    used_output_tokens INTEGER NOT NULL DEFAULT 0,
    used_cost_micros   INTEGER NOT NULL DEFAULT 0,
    used_estimated_micros INTEGER NOT NULL DEFAULT 0,
    used_wall_seconds  INTEGER NOT NULL DEFAULT 0,
    used_turns         INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, day)
) STRICT, WITHOUT ROWID;

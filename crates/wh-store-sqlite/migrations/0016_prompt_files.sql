-- Files that come with a prompt. What is known of them stands with the turn, as JSON; what is in them is read when the agent is
-- given the prompt, or when somebody opens one.
ALTER TABLE turns ADD COLUMN files TEXT;

CREATE TABLE turn_files (
    turn_id BLOB NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    number  INTEGER NOT NULL CHECK (number >= 1),
    name    TEXT NOT NULL,
    data    BLOB NOT NULL,
    PRIMARY KEY (turn_id, number)
) STRICT;

-- How many sessions there are of each owner, state and archived flag. Counting 100,000 sessions took milliseconds for every list.
CREATE TABLE session_totals (
    owner_user_id BLOB NOT NULL,
    -- x'' for sessions that belong to no client key.
    owner_key_id  BLOB NOT NULL,
    state         TEXT NOT NULL,
    archived      INTEGER NOT NULL CHECK (archived IN (0, 1)),
    number        INTEGER NOT NULL CHECK (number >= 0),
    PRIMARY KEY (owner_user_id, owner_key_id, state, archived)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_totals_key ON session_totals (owner_key_id);

INSERT INTO session_totals (owner_user_id, owner_key_id, state, archived, number)
    SELECT owner_user_id, COALESCE(owner_key_id, x''), state, archived, COUNT(*) FROM sessions
    GROUP BY owner_user_id, COALESCE(owner_key_id, x''), state, archived;

CREATE TRIGGER session_totals_insert AFTER INSERT ON sessions BEGIN
    INSERT INTO session_totals (owner_user_id, owner_key_id, state, archived, number)
        VALUES (NEW.owner_user_id, COALESCE(NEW.owner_key_id, x''), NEW.state, NEW.archived, 1)
        ON CONFLICT DO UPDATE SET number = number + 1;
END;
CREATE TRIGGER session_totals_delete AFTER DELETE ON sessions BEGIN
    UPDATE session_totals SET number = number - 1
        WHERE owner_user_id = OLD.owner_user_id AND owner_key_id = COALESCE(OLD.owner_key_id, x'')
            AND state = OLD.state AND archived = OLD.archived;
END;
CREATE TRIGGER session_totals_update AFTER UPDATE OF owner_user_id, owner_key_id, state, archived ON sessions
    WHEN (OLD.owner_user_id, OLD.owner_key_id, OLD.state, OLD.archived)
        IS NOT (NEW.owner_user_id, NEW.owner_key_id, NEW.state, NEW.archived)
BEGIN
    UPDATE session_totals SET number = number - 1
        WHERE owner_user_id = OLD.owner_user_id AND owner_key_id = COALESCE(OLD.owner_key_id, x'')
            AND state = OLD.state AND archived = OLD.archived;
    INSERT INTO session_totals (owner_user_id, owner_key_id, state, archived, number)
        VALUES (NEW.owner_user_id, COALESCE(NEW.owner_key_id, x''), NEW.state, NEW.archived, 1)
        ON CONFLICT DO UPDATE SET number = number + 1;
END;

-- Addresses that are told of changes, and what each is to be told.
CREATE TABLE webhooks (
    id         BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    user_id    BLOB NOT NULL REFERENCES users (id),
    url        TEXT NOT NULL CHECK (url <> ''),
    -- Separated by commas.
    kinds      TEXT NOT NULL,
    board_id   BLOB,
    session_id BLOB,
    -- As it is: signing needs it.
    secret     TEXT NOT NULL,
    state      TEXT NOT NULL,
    failures   INTEGER NOT NULL CHECK (failures >= 0),
    last_error TEXT,
    -- Events up to this one were looked at.
    cursor     INTEGER NOT NULL CHECK (cursor >= 0),
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX webhooks_short ON webhooks (substr(id, 13));
CREATE INDEX webhooks_user ON webhooks (user_id, id);
CREATE INDEX webhooks_active ON webhooks (cursor) WHERE state = 'active';

CREATE TABLE webhook_deliveries (
    id         BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    webhook_id BLOB NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    event_seq  INTEGER NOT NULL,
    body       TEXT NOT NULL,
    state      TEXT NOT NULL,
    attempts   INTEGER NOT NULL CHECK (attempts >= 0),
    last_error TEXT,
    due_at     INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (webhook_id, event_seq)
) STRICT;
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (due_at) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_state ON webhook_deliveries (webhook_id, state, id);

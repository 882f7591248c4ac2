-- Credentials for hosts that repositories are fetched from. Their key is in a file beside the database.
CREATE TABLE host_credentials (
    id         BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    -- Who entered it.
    user_id    BLOB NOT NULL REFERENCES users (id),
    -- In lower case, with the port unless it is 443.
    host       TEXT NOT NULL CHECK (host <> ''),
    username   TEXT NOT NULL,
    -- Whose repositories it is used for: own, admins or everyone.
    usable_by  TEXT NOT NULL,
    -- Nonce, then the encrypted token with its tag.
    sealed     BLOB NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX host_credentials_short ON host_credentials (substr(id, 13));
CREATE INDEX host_credentials_user ON host_credentials (user_id, id);
-- One of each user, and one of the server, per host.
CREATE UNIQUE INDEX host_credentials_own ON host_credentials (host, user_id) WHERE usable_by = 'own';
CREATE UNIQUE INDEX host_credentials_server ON host_credentials (host) WHERE usable_by <> 'own';

-- Where the credential came from that a repository is cloned with: own, server, configuration or gh.
ALTER TABLE repos ADD COLUMN credential TEXT;

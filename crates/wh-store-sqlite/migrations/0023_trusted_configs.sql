-- Configuration of coding agents in a repository that a person approved, by its content.
CREATE TABLE trusted_configs (
    repo_id     BLOB NOT NULL REFERENCES repos (id),
    -- The file or directory, without a slash, such as .claude or .mcp.json.
    name        TEXT NOT NULL,
    sha256      BLOB NOT NULL CHECK (length(sha256) = 32),
    user_id     BLOB NOT NULL REFERENCES users (id),
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (repo_id, name, sha256)
) STRICT, WITHOUT ROWID;

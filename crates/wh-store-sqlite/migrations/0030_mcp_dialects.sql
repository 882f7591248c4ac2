-- The tools that agents are given: a dialect's name, or wheelhouse. Nothing in sessions and loops from before means wheelhouse; in
-- repositories it means that they name none.
ALTER TABLE sessions ADD COLUMN mcp_dialect TEXT;
ALTER TABLE loops ADD COLUMN mcp_dialect TEXT;
ALTER TABLE repos ADD COLUMN mcp_dialect TEXT;

-- The container image that sessions in this repository run in, in the tier container.
ALTER TABLE repos ADD COLUMN image TEXT;
-- The hosts that a session may connect to: a JSON array of rules; absent for all that the server allows.
ALTER TABLE sessions ADD COLUMN hosts TEXT;

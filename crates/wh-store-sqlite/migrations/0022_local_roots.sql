-- The directories of the server's machine that a user may open: a JSON array of absolute paths, absent when there are none.
ALTER TABLE users ADD COLUMN local_roots TEXT;

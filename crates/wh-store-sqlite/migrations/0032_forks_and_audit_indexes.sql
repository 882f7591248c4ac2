-- Forks of a session are counted, to give each a title of its own.
CREATE INDEX sessions_forked_from ON sessions (forked_from_id) WHERE forked_from_id IS NOT NULL;
-- Entries of the audit log that are not of successful reads, of everybody and of one user. This takes a while where there are millions.
CREATE INDEX audit_kept ON audit (seq) WHERE subject_id IS NOT NULL OR refused IS NOT NULL;
CREATE INDEX audit_user_kept ON audit (user_id, seq) WHERE subject_id IS NOT NULL OR refused IS NOT NULL;

-- A deleted user keeps the row, which the audit log and transcripts name, and is disabled.
ALTER TABLE users ADD COLUMN deleted_at INTEGER;

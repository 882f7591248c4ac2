-- When the runner confirmed an answer, instead of whether it was sent.
ALTER TABLE approvals ADD COLUMN delivered_at INTEGER;
UPDATE approvals SET delivered_at = coalesce(settled_at, created_at) WHERE told = 1;
DROP INDEX approvals_untold;
ALTER TABLE approvals DROP COLUMN told;
CREATE INDEX approvals_undelivered ON approvals (session_id) WHERE delivered_at IS NULL;
-- Whether the agent has yet to read the reason of the denial.
ALTER TABLE approvals ADD COLUMN reason_unread INTEGER NOT NULL DEFAULT 0 CHECK (reason_unread IN (0, 1));
CREATE INDEX approvals_reasons_unread ON approvals (session_id) WHERE reason_unread = 1;

-- What a question in a transcript, and what became of it, belongs to; that says who answered.
ALTER TABLE messages ADD COLUMN approval_id BLOB;
-- The session whose token settled it, if an agent did.
ALTER TABLE approvals ADD COLUMN answered_by_session_id BLOB;

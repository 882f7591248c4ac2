-- Sessions that branch off others: where from, and the last turn that both have.
ALTER TABLE sessions ADD COLUMN forked_from_id BLOB;
ALTER TABLE sessions ADD COLUMN forked_at_turn INTEGER;

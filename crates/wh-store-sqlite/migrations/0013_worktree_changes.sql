-- What worktrees have to show, in numbers, so that lists need not ask git.

ALTER TABLE worktrees ADD COLUMN lines_added INTEGER;
ALTER TABLE worktrees ADD COLUMN lines_deleted INTEGER;
ALTER TABLE worktrees ADD COLUMN commits_ahead INTEGER;
ALTER TABLE worktrees ADD COLUMN commits_unmerged INTEGER;
ALTER TABLE worktrees ADD COLUMN is_clean INTEGER;
-- How often something has happened in it, and how much of that the numbers know.
ALTER TABLE worktrees ADD COLUMN touched INTEGER NOT NULL DEFAULT 0;
ALTER TABLE worktrees ADD COLUMN counted INTEGER NOT NULL DEFAULT 0;
CREATE INDEX worktrees_uncounted ON worktrees (id) WHERE touched <> counted;

-- Where repositories and worktrees are, recorded when they were found or made, and what is being done with them.

-- Those that were added before have to be looked at once.
ALTER TABLE repos ADD COLUMN state TEXT NOT NULL DEFAULT 'pending';
ALTER TABLE repos ADD COLUMN failure TEXT;
ALTER TABLE repos ADD COLUMN git_dir TEXT;
ALTER TABLE repos ADD COLUMN common_dir TEXT;
ALTER TABLE repos ADD COLUMN work_tree TEXT;
ALTER TABLE repos ADD COLUMN alternates TEXT;
CREATE INDEX repos_pending ON repos (id) WHERE state = 'pending';

ALTER TABLE worktrees ADD COLUMN state TEXT NOT NULL DEFAULT 'making';
-- What was asked for: a branch or a commit; the commit it came to is base_sha.
ALTER TABLE worktrees ADD COLUMN base_branch TEXT;
ALTER TABLE worktrees ADD COLUMN base_commit TEXT;
ALTER TABLE worktrees ADD COLUMN git_dir TEXT;
-- How a removal that was begun treats what would be lost.
ALTER TABLE worktrees ADD COLUMN removal TEXT;
CREATE INDEX worktrees_repo ON worktrees (repo_id, id);
CREATE INDEX worktrees_unsettled ON worktrees (state, id) WHERE state IN ('making', 'removing');

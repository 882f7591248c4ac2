import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { api, ask, mark, type Schemas } from "@/api/client";
import { keys, worktreeAbout } from "@/api/queries";
import { Button } from "@/ui/button";
import { Failure } from "@/ui/loaded";
import { toast } from "@/ui/toast";
import { counted, plain } from "@/util/text";

const OUTCOMES: Record<string, string> = {
  up_to_date: "had everything already",
  fast_forward: "was fast-forwarded",
  merged: "has a merge commit",
};

/** The most uncommitted files that are named. */
const FILES_SHOWN = 5;

interface Props {
  worktree: string;
  branch: string;
  onClose: () => void;
}

/** Merges the worktree's branch, with or without its uncommitted changes, and removes both afterwards if that is wished. */
export function MergeForm({ worktree, branch, onClose }: Props) {
  const client = useQueryClient();
  // Files change without an event, so the worktree is read again whenever the dialog opens.
  const about = useQuery({ ...worktreeAbout(worktree), staleTime: 0 });
  const files = uncommittedFiles(about.data);
  const [into, setInto] = useState("");
  const [isLeft, setLeft] = useState(false);
  const [message, setMessage] = useState("");
  const [isRemoved, setRemoved] = useState(false);
  const commits = files.length > 0 && !isLeft;
  const body = {
    ...(into.trim() && { into: into.trim() }),
    ...(commits && { commit: message.trim() }),
    ...(files.length > 0 && isLeft && { leave_uncommitted: true }),
    ...(isRemoved && !isLeft && { remove_after: true }),
  };
  const merge = useMutation({
    mutationFn: () =>
      ask(api.POST("/api/v1/worktrees/{worktree}/merge", { params: { path: { worktree }, header: mark() }, body })),
    onSuccess: (merged) => {
      onClose();
      toast(`Merged: ${plain(merged.into)} ${OUTCOMES[merged.outcome] ?? merged.outcome}`, removal(merged));
    },
    onError: () => client.invalidateQueries({ queryKey: keys.worktree(worktree) }),
  });
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        merge.mutate();
      }}
    >
      <p className="font-mono text-sm break-all">{plain(branch)}</p>
      <label>
        <span className="text-sm text-muted">Into (default: the repository’s default branch)</span>
        <input className="field" value={into} onChange={(event) => setInto(event.target.value)} />
      </label>
      {files.length > 0 && (
        <fieldset className="flex flex-col gap-2">
          <legend className="text-sm text-muted">{counted(files.length, "uncommitted file")}</legend>
          <p className="font-mono text-sm break-all">
            {files.slice(0, FILES_SHOWN).map(plain).join(", ")}
            {files.length > FILES_SHOWN && ` and ${files.length - FILES_SHOWN} more`}
          </p>
          <label className="flex items-center gap-2">
            <input type="radio" name="uncommitted" checked={!isLeft} onChange={() => setLeft(false)} />
            Commit them first
          </label>
          {commits && (
            <label className="pl-6">
              <span className="text-sm text-muted">Commit message</span>
              <textarea rows={2} className="field" value={message} onChange={(event) => setMessage(event.target.value)} />
            </label>
          )}
          <label className="flex items-center gap-2">
            <input type="radio" name="uncommitted" checked={isLeft} onChange={() => setLeft(true)} />
            Leave uncommitted files in the worktree
          </label>
        </fieldset>
      )}
      <label className="flex items-start gap-2">
        <input
          type="checkbox"
          className="mt-1"
          checked={isRemoved && !isLeft}
          disabled={isLeft}
          onChange={(event) => setRemoved(event.target.checked)}
        />
        <span>
          Remove worktree and branch after the merge
          <span className="block text-sm text-muted">Archives its sessions. Ignored files are saved under a git reference.</span>
        </span>
      </label>
      {merge.isError && <Failure error={merge.error} />}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          type="submit"
          look="primary"
          refused={commits && message.trim() === "" ? "Enter a commit message." : undefined}
          disabled={merge.isPending || about.isFetching}
        >
          {commits ? "Commit and merge" : "Merge"}
        </Button>
      </div>
    </form>
  );
}

function uncommittedFiles(about: Schemas["WorktreeView"] | undefined): string[] {
  const { staged = [], unstaged = [], untracked = [] } = about?.status ?? {};
  return [...new Set([...staged, ...unstaged, ...untracked])].sort();
}

/** Says what was removed after a merge, if anything was to be. */
function removal(merged: Schemas["WorktreeMergedView"]): string | undefined {
  if (merged.not_removed) {
    return `Not everything was removed: ${plain(merged.not_removed)}`;
  }
  return merged.worktree_removed ? "The worktree and its branch were removed." : undefined;
}

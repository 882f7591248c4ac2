import { useMutation } from "@tanstack/react-query";
import { GitMerge } from "lucide-react";
import { useState } from "react";

import { api, ask, mark } from "@/api/client";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { Failure } from "@/ui/loaded";
import { toast } from "@/ui/toast";
import { plain } from "@/util/text";

const OUTCOMES: Record<string, string> = {
  up_to_date: "had everything already",
  fast_forward: "was moved to it",
  merged: "has a merge commit",
};

/** Merges the worktree's branch, or changes nothing and says why. */
export function MergeButton({ worktree, branch }: { worktree: string; branch: string }) {
  const [isOpen, setOpen] = useState(false);
  const [into, setInto] = useState("");
  const merge = useMutation({
    mutationFn: () =>
      ask(
        api.POST("/api/v1/worktrees/{worktree}/merge", {
          params: { path: { worktree }, header: mark() },
          body: into.trim() ? { into: into.trim() } : {},
        }),
      ),
    onSuccess: (merged) => {
      setOpen(false);
      toast(`Merged: ${plain(merged.into)} ${OUTCOMES[merged.outcome] ?? merged.outcome}`);
    },
  });
  const close = () => {
    merge.reset();
    setOpen(false);
  };
  return (
    <>
      <Button look="quiet" onClick={() => setOpen(true)}>
        <GitMerge size={14} aria-hidden="true" /> Merge…
      </Button>
      <Dialog
        title="Merge this branch"
        about="Only what is committed is merged. If it cannot be merged cleanly, nothing changes."
        isOpen={isOpen}
        onClose={close}
      >
        <form
          className="flex flex-col gap-3"
          onSubmit={(event) => {
            event.preventDefault();
            merge.mutate();
          }}
        >
          <p className="font-mono text-sm break-all">{plain(branch)}</p>
          <label>
            <span className="text-sm text-muted">Into (the repository’s default branch unless given)</span>
            <input className="field" value={into} onChange={(event) => setInto(event.target.value)} />
          </label>
          {merge.isError && <Failure error={merge.error} />}
          <div className="flex justify-end gap-2">
            <Button onClick={close}>Cancel</Button>
            <Button type="submit" look="primary" disabled={merge.isPending}>
              Merge
            </Button>
          </div>
        </form>
      </Dialog>
    </>
  );
}

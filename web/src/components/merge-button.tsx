import { GitMerge } from "lucide-react";
import { useState } from "react";

import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";

import { MergeForm } from "./merge-form";

/** Opens the dialog that merges a worktree's branch. */
export function MergeButton({ worktree, branch }: { worktree: string; branch: string }) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button look="quiet" onClick={() => setOpen(true)}>
        <GitMerge size={14} aria-hidden="true" /> Merge…
      </Button>
      <Dialog
        title="Merge this branch"
        about="If it cannot be merged cleanly, the target branch does not change."
        isOpen={isOpen}
        onClose={close}
      >
        <MergeForm worktree={worktree} branch={branch} onClose={close} />
      </Dialog>
    </>
  );
}

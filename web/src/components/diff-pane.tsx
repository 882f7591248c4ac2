import { useQuery, useQueryClient } from "@tanstack/react-query";
import { FolderTree, RefreshCw } from "lucide-react";

import type { Diff, Session } from "@/api/client";
import { keys, worktreeDiff } from "@/api/queries";
import { useRemarks, type Remarks } from "@/hooks/use-remarks";
import { useStored } from "@/hooks/use-stored";
import { useWidth } from "@/hooks/use-width";
import { Button } from "@/ui/button";
import { Empty } from "@/ui/empty";
import { Loaded } from "@/ui/loaded";
import { toast } from "@/ui/toast";
import { commentsPrompt } from "@/util/comments";
import { sessionCan } from "@/util/session";
import { counted } from "@/util/text";

import { DiffFiles } from "./diff-files";
import type { Layout } from "./file-diff";
import { MergeButton } from "./merge-button";
import { Name } from "./name";
import { usePrompt } from "./prompt-box";

const asLayout = (value: unknown): Layout | undefined =>
  value === "split" || value === "unified" ? value : undefined;
const asChoice = (value: unknown): Choice | undefined =>
  value === "shown" || value === "hidden" || value === "auto" ? value : undefined;

type Choice = "auto" | "shown" | "hidden";

/** From how many pixels on the tree of files stands beside the diff, and below how many it is folded away. */
const BESIDE_PIXELS = 640;
const NARROW_PIXELS = 440;

/** What the session changed, and comments on its lines, which go to the agent as one prompt. */
export function DiffPane({ id, session }: { id: string; session: Session }) {
  if (!session.worktree_id) {
    return (
      <div className="p-4">
        <Empty title="No diff">This session does not work in a worktree, so there is nothing to compare with.</Empty>
      </div>
    );
  }
  return <WorktreeDiff id={id} session={session} worktree={session.worktree_id} />;
}

function WorktreeDiff({ worktree, ...rest }: { id: string; session: Session; worktree: string }) {
  const query = useQuery(worktreeDiff(worktree));
  return <Loaded query={query}>{(diff) => <Shown {...rest} worktree={worktree} diff={diff} />}</Loaded>;
}

interface ShownProps {
  id: string;
  session: Session;
  worktree: string;
  diff: Diff;
}

function Shown({ id, session, worktree, diff }: ShownProps) {
  const client = useQueryClient();
  const remarks = useRemarks(id);
  const [layout, setLayout] = useStored<Layout>("diff-layout", "unified", asLayout);
  const [choice, setChoice] = useStored<Choice>("diff-tree", "auto", asChoice);
  const [pane, width] = useWidth<HTMLDivElement>();
  const isTreeShown = choice === "auto" ? width >= NARROW_PIXELS && diff.files.length > 1 : choice === "shown";
  const place = width >= BESIDE_PIXELS ? "beside" : "above";
  return (
    <div ref={pane} className="flex h-full min-h-0 flex-col">
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-3 py-2 text-sm">
        <Summary diff={diff} />
        <span className="ml-auto flex flex-wrap gap-1">
          <MergeButton worktree={worktree} branch={diff.branch} />
          {diff.files.length > 0 && (
            <Button look="quiet" aria-expanded={isTreeShown} onClick={() => setChoice(isTreeShown ? "hidden" : "shown")}>
              <FolderTree size={14} aria-hidden="true" /> Files
            </Button>
          )}
          <Button look="quiet" aria-label="Read the diff again" onClick={() => void client.invalidateQueries({ queryKey: keys.diff(worktree) })}>
            <RefreshCw size={14} aria-hidden="true" />
          </Button>
          <Button look="quiet" onClick={() => setLayout(layout === "split" ? "unified" : "split")}>
            {layout === "split" ? "Unified" : "Split"}
          </Button>
        </span>
      </div>
      {diff.files.length === 0 ? (
        <div className="min-h-0 flex-1 p-3">
          <Empty title="No changes yet">They appear here as the agent makes them.</Empty>
        </div>
      ) : (
        <DiffFiles session={id} diff={diff} tree={isTreeShown ? place : undefined} worktree={worktree} {...{ layout, remarks }} />
      )}
      <NotSent id={id} session={session} remarks={remarks} />
    </div>
  );
}

/** The comments that wait to be sent. */
function NotSent({ id, session, remarks }: { id: string; session: Session; remarks: Remarks }) {
  const send = usePrompt(id);
  const { comments } = remarks;
  if (comments.length === 0) {
    return null;
  }
  const sendAll = () =>
    send.mutate(
      { prompt: commentsPrompt(comments) },
      {
        onSuccess: () => {
          remarks.clear();
          toast("The comments were sent as one prompt");
        },
      },
    );
  return (
    <div className="flex flex-wrap items-center justify-between gap-2 border-t border-line bg-panel p-3">
      <span role="status">{counted(comments.length, "comment")} not sent yet</span>
      <span className="flex gap-2">
        <Button onClick={remarks.clear}>Discard</Button>
        <Button look="primary" refused={sessionCan.prompt(session)} disabled={send.isPending} onClick={sendAll}>
          Send {counted(comments.length, "comment")} as one prompt
        </Button>
      </span>
    </div>
  );
}

function Summary({ diff }: { diff: Diff }) {
  return (
    <>
      <span className="font-mono break-all">
        <Name>{diff.branch}</Name>
      </span>
      <span className="text-muted">{counted(diff.files.length + diff.files_left, "file")}</span>
      <span className="text-good">+{diff.added}</span>
      <span className="text-danger">−{diff.deleted}</span>
    </>
  );
}

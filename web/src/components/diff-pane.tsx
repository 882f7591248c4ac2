import { useQuery } from "@tanstack/react-query";
import { RefreshCw } from "lucide-react";

import type { Diff, Session } from "@/api/client";
import { worktreeDiff } from "@/api/queries";
import { useStored } from "@/hooks/use-stored";
import { Button } from "@/ui/button";
import { Empty } from "@/ui/empty";
import { Loaded } from "@/ui/loaded";
import { toast } from "@/ui/toast";
import { commentsPrompt, type LineComment } from "@/util/comments";
import { sessionCan } from "@/util/session";
import { counted } from "@/util/text";

import { FileDiff, type Layout } from "./file-diff";
import { MergeButton } from "./merge-button";
import { Name } from "./name";
import { usePrompt } from "./prompt-box";

const asComments = (value: unknown): LineComment[] | undefined =>
  Array.isArray(value) ? (value as LineComment[]) : undefined;
const asLayout = (value: unknown): Layout | undefined =>
  value === "split" || value === "unified" ? value : undefined;

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

function WorktreeDiff({ id, session, worktree }: { id: string; session: Session; worktree: string }) {
  const diff = useQuery(worktreeDiff(worktree));
  const [comments, setComments] = useStored<LineComment[]>(`comments-${id}`, [], asComments);
  const [layout, setLayout] = useStored<Layout>("diff-layout", "unified", asLayout);
  const send = usePrompt(id);
  const sendAll = () =>
    send.mutate(
      { prompt: commentsPrompt(comments) },
      {
        onSuccess: () => {
          setComments([]);
          toast("The comments were sent as one prompt");
        },
      },
    );
  return (
    <Loaded query={diff}>
      {(data) => (
        <div className="flex h-full min-h-0 flex-col">
          <div className="flex flex-wrap items-center gap-2 border-b border-line px-3 py-2 text-sm">
            <Summary diff={data} />
            <span className="ml-auto flex gap-1">
              <MergeButton worktree={worktree} branch={data.branch} />
              <Button look="quiet" aria-label="Read the diff again" onClick={() => void diff.refetch()}>
                <RefreshCw size={14} aria-hidden="true" />
              </Button>
              <Button look="quiet" onClick={() => setLayout(layout === "split" ? "unified" : "split")}>
                {layout === "split" ? "Unified" : "Split"}
              </Button>
            </span>
          </div>
          <div className="min-h-0 flex-1 overflow-y-auto p-3">
            {data.files.length === 0 && <Empty title="No changes yet">They appear here as the agent makes them.</Empty>}
            {data.files.map((file) => (
              <FileDiff
                key={file.path}
                file={file}
                layout={layout}
                comments={comments.filter((comment) => comment.path === file.path)}
                onAdd={(comment) => setComments((all) => [...all, comment])}
                onRemove={(gone) => setComments((all) => all.filter((comment) => comment.id !== gone))}
              />
            ))}
            {data.files_left > 0 && (
              <p className="text-muted">{counted(data.files_left, "more file")} changed; `wheelhouse diff` shows them all.</p>
            )}
          </div>
          {comments.length > 0 && (
            <div className="flex items-center justify-between gap-2 border-t border-line bg-panel p-3">
              <span role="status">{counted(comments.length, "comment")} not sent yet</span>
              <Button look="primary" refused={sessionCan.prompt(session)} disabled={send.isPending} onClick={sendAll}>
                Send {counted(comments.length, "comment")} as one prompt
              </Button>
            </div>
          )}
        </div>
      )}
    </Loaded>
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

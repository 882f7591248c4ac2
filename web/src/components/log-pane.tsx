import { useInfiniteQuery } from "@tanstack/react-query";

import type { Schemas } from "@/api/client";
import { runList } from "@/api/queries";
import { useNow } from "@/hooks/use-now";
import { Badge } from "@/ui/badge";
import { Button } from "@/ui/button";
import { Empty } from "@/ui/empty";
import { Failure } from "@/ui/loaded";
import { plain, since } from "@/util/text";

import { AnsiText } from "./ansi-text";

type Run = Schemas["RunView"];

/** What became of the session's processes, latest first, and the last that each wrote to its terminal. */
export function LogPane({ id }: { id: string }) {
  const list = useInfiniteQuery(runList(id));
  const runs = list.data?.pages.flatMap((page) => page.runs) ?? [];
  return (
    <div className="flex h-full flex-col gap-3 overflow-y-auto p-3">
      {list.isError && <Failure error={list.error} onRetry={() => void list.refetch()} />}
      {list.isSuccess && runs.length === 0 && <Empty title="No process yet">One is started with the first prompt.</Empty>}
      <ol aria-label="Processes of this session" reversed className="flex flex-col gap-3">
        {runs.map((run) => (
          <Shown key={run.epoch} run={run} />
        ))}
      </ol>
      {list.hasNextPage && (
        <Button className="self-center" disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          Older
        </Button>
      )}
    </div>
  );
}

function Shown({ run }: { run: Run }) {
  const now = useNow();
  const hasEnded = Boolean(run.ended_at);
  const tone = !hasEnded ? "accent" : run.ending === "stopped" ? "neutral" : "danger";
  return (
    <li className="rounded-md border border-line bg-panel">
      <div className="flex flex-wrap items-center gap-2 px-3 py-2">
        <span className="font-medium">Run {run.epoch}</span>
        <Badge tone={tone}>{hasEnded ? plain(run.ending ?? "ended") : "running"}</Badge>
        {run.resumed && <Badge>went on with its conversation</Badge>}
        {run.tools_link === "broken" && <Badge tone="warn">never reached its tools</Badge>}
        <span className="text-sm text-muted">
          began <time dateTime={run.started_at}>{since(run.started_at, now)}</time>
          {run.ended_at && (
            <>
              {" · "}ended <time dateTime={run.ended_at}>{since(run.ended_at, now)}</time>
            </>
          )}
        </span>
      </div>
      {run.stderr ? (
        <pre
          tabIndex={0}
          aria-label={`Log of run ${run.epoch}`}
          className="max-h-96 overflow-auto border-t border-line bg-sunken p-3 font-mono text-xs whitespace-pre-wrap"
        >
          <AnsiText>{run.stderr}</AnsiText>
        </pre>
      ) : (
        <p className="border-t border-line px-3 py-2 text-sm text-muted">
          {hasEnded ? "Its program wrote nothing to stderr." : "Its program has written nothing to stderr so far."}
        </p>
      )}
    </li>
  );
}

import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";

import { loop as loopQuery } from "@/api/queries";
import { LoopAbout, LoopIterations, LoopLog } from "@/components/loop-detail";
import { LoopResume } from "@/components/loop-resume";
import { LoopActions, LoopProgress, LoopState, type Loop } from "@/components/loops";
import { Name } from "@/components/name";
import { TasksPane } from "@/components/tasks-pane";
import { usePageTitle } from "@/hooks/use-page-title";
import { Loaded } from "@/ui/loaded";

/** One loop: how far it is, what each iteration came to, its tasks and notes, and what happened. */
export function LoopPage() {
  const { loop: id } = useParams({ from: "/loops/$loop" });
  const query = useQuery(loopQuery(id));
  usePageTitle(query.data?.title ?? "Loop");
  return <Loaded query={query}>{(loop) => <Shown key={loop.id} loop={loop} />}</Loaded>;
}

function Shown({ loop }: { loop: Loop }) {
  return (
    <div className="flex h-full min-h-0 flex-col overflow-y-auto">
      <header className="border-b border-line bg-panel px-4 py-3">
        <div className="flex flex-wrap items-center justify-between gap-3">
          <h1 className="flex min-w-0 items-center gap-2 text-lg font-semibold">
            <Name className="min-w-0 break-words">{loop.title}</Name>
            <LoopState loop={loop} />
          </h1>
          <LoopActions loop={loop} />
        </div>
        <LoopProgress loop={loop} />
      </header>
      <div className="grid gap-4 p-4 lg:grid-cols-2">
        <div className="flex min-w-0 flex-col gap-4">
          <LoopAbout loop={loop} />
          <LoopResume loop={loop} />
          <LoopIterations loop={loop} />
        </div>
        <div className="flex min-w-0 flex-col gap-4">
          <section aria-label="Tasks and notes" className="rounded-lg border border-line">
            <TasksPane of={{ loop: loop.short_id }} />
          </section>
          <LoopLog id={loop.short_id} />
        </div>
      </div>
    </div>
  );
}

import { useMutation, useQueries } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { api, ask, mark, type Schemas } from "@/api/client";
import { loop as loopQuery, loopList, shortId } from "@/api/queries";
import { useAllPages } from "@/hooks/use-all-pages";
import { Button } from "@/ui/button";
import { toastError } from "@/ui/toast";
import { cost, plain, type Spent } from "@/util/text";

import { Name } from "./name";
import { StateBadge } from "./state-badge";

export type Loop = Schemas["LoopView"];

/** Loops that are not over: how far each is, and what can be done about it. Nothing when there are none. */
export function LoopsUnderWay() {
  const loops = useAllPages(loopList).data?.rows.filter((loop) => loop.state !== "ended") ?? [];
  const details = useQueries({ queries: loops.map((loop) => loopQuery(loop.id)) });
  if (loops.length === 0) {
    return null;
  }
  return (
    <section aria-label="Loops under way" className="flex flex-col gap-2 px-4 pt-4">
      {details.map(({ data }) => data && <LoopItem key={data.id} loop={data} />)}
    </section>
  );
}

function LoopItem({ loop }: { loop: Loop }) {
  return (
    <article aria-label={`Loop ${plain(loop.title)}`} className="flex flex-wrap items-center gap-3 rounded-lg border border-line bg-panel p-3">
      <span className="min-w-0 flex-1">
        <span className="flex flex-wrap items-center gap-2">
          <Link to="/loops/$loop" params={{ loop: loop.short_id }} className="min-w-0 font-medium break-words hover:underline">
            <Name>{loop.title}</Name>
          </Link>
          <LoopState loop={loop} />
          {loop.session_id && (
            <Link to="/sessions/$session" params={{ session: shortId(loop.session_id) }} className="text-accent underline">
              its session
            </Link>
          )}
        </span>
        <LoopProgress loop={loop} />
      </span>
      <LoopActions loop={loop} />
    </article>
  );
}

/** What was asked of a loop and is about to happen. A loop that rests because it was asked to still wants to. */
function about(loop: Loop): string | undefined {
  return loop.wanted && !(loop.wanted === "pause" && loop.state === "paused") ? loop.wanted : undefined;
}

export function LoopState({ loop }: { loop: Loop }) {
  const asked = about(loop);
  return <StateBadge state={asked ? `${loop.state}, ${asked} asked for` : (loop.outcome ?? loop.state)} />;
}

/** How far a loop is: its iterations, and the tasks of its list. */
export function LoopProgress({ loop }: { loop: Loop }) {
  const { remaining, in_progress, blocked, completed } = loop.tasks;
  const total = remaining + in_progress + blocked + completed;
  return (
    <label className="block text-sm text-muted">
      Iteration {loop.iteration} of at most {loop.iterations_max} · {completed} of {total} tasks done
      {loop.task && ` · ${plain(loop.task)}`}
      {loop.waiting && " · waits for an answer"}
      <progress className="mt-1 block h-2 w-full accent-accent" max={Math.max(1, total)} value={completed} />
    </label>
  );
}

/** What can be done about a loop. Nothing when it has ended. */
export function LoopActions({ loop }: { loop: Loop }) {
  const change = useMutation({
    mutationFn: (action: "pause" | "resume" | "stop") => {
      const params = { path: { loop: loop.short_id }, header: mark() };
      switch (action) {
        case "pause":
          return ask(api.POST("/api/v1/loops/{loop}/pause", { params }));
        case "resume":
          return ask(api.POST("/api/v1/loops/{loop}/resume", { params }));
        case "stop":
          return ask(api.POST("/api/v1/loops/{loop}/stop", { params }));
      }
    },
    onError: toastError,
  });
  if (loop.state === "ended") {
    return null;
  }
  const asked = about(loop);
  const refused = asked ? `It is about to ${asked}.` : undefined;
  return (
    <span className="flex gap-2">
      {loop.state === "paused" ? (
        <Button refused={refused} disabled={change.isPending} onClick={() => change.mutate("resume")}>
          Resume
        </Button>
      ) : (
        <Button refused={refused} disabled={change.isPending} onClick={() => change.mutate("pause")}>
          Pause
        </Button>
      )}
      <Button refused={loop.wanted === "stop" ? refused : undefined} disabled={change.isPending} onClick={() => change.mutate("stop")}>
        Stop
      </Button>
    </span>
  );
}

/** What a loop has used. */
export const loopSpent = (used: { tokens_used: number } & Spent): string =>
  `${used.tokens_used.toLocaleString("en")} tokens · ${cost(used)}`;

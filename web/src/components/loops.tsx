import { useMutation, useQueries, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { api, ask, mark, type Schemas } from "@/api/client";
import { loop as loopQuery, loopList, shortId } from "@/api/queries";
import { Button } from "@/ui/button";
import { toastError } from "@/ui/toast";
import { plain } from "@/util/text";

import { Name } from "./name";
import { StateBadge } from "./state-badge";

type Loop = Schemas["LoopView"];

/** Loops that are not over: how far each is, and what can be done about it. Nothing when there are none. */
export function LoopsUnderWay() {
  const loops = useQuery(loopList).data?.loops.filter((loop) => loop.state !== "ended") ?? [];
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
  const { remaining, in_progress, blocked, completed } = loop.tasks;
  const total = remaining + in_progress + blocked + completed;
  // A loop that rests because it was asked to still wants to.
  const isAboutTo = loop.wanted && !(loop.wanted === "pause" && loop.state === "paused");
  const refused = isAboutTo ? `It is about to ${loop.wanted}.` : undefined;
  return (
    <article aria-label={`Loop ${plain(loop.title)}`} className="flex flex-wrap items-center gap-3 rounded-lg border border-line bg-panel p-3">
      <span className="min-w-0 flex-1">
        <span className="flex flex-wrap items-center gap-2">
          <Name className="min-w-0 font-medium break-words">{loop.title}</Name>
          <StateBadge state={isAboutTo ? `${loop.state}, ${loop.wanted} asked for` : loop.state} />
          {loop.session_id && (
            <Link to="/sessions/$session" params={{ session: shortId(loop.session_id) }} className="text-accent underline">
              its session
            </Link>
          )}
        </span>
        <label className="block text-sm text-muted">
          Iteration {loop.iteration} of at most {loop.iterations_max} · {completed} of {total} tasks done
          {loop.task && ` · ${plain(loop.task)}`}
          <progress className="mt-1 block h-2 w-full accent-accent" max={Math.max(1, total)} value={completed} />
        </label>
      </span>
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
    </article>
  );
}

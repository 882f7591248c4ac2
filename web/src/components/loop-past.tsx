import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import type { Schemas } from "@/api/client";
import { endedLoop } from "@/api/queries";
import { useNow } from "@/hooks/use-now";
import { ago, plain } from "@/util/text";

import { loopSpent } from "./loops";
import { Name } from "./name";
import { StateBadge } from "./state-badge";

type Summary = Schemas["LoopSummaryView"];

/** Loops that are over, and what each came to. */
export function PastLoops({ loops }: { loops: Summary[] }) {
  if (loops.length === 0) {
    return null;
  }
  return (
    <section aria-label="Past loops" className="flex flex-col gap-2">
      <h2 className="font-semibold">Past loops</h2>
      <ul className="flex flex-col gap-2">
        {loops.map((loop) => (
          <PastLoop key={loop.id} loop={loop} />
        ))}
      </ul>
    </section>
  );
}

function PastLoop({ loop }: { loop: Summary }) {
  const now = useNow();
  const detail = useQuery(endedLoop(loop)).data;
  const { remaining, in_progress, blocked, completed } = detail?.tasks ?? { remaining: 0, in_progress: 0, blocked: 0, completed: 0 };
  return (
    <li className="rounded-lg border border-line bg-panel p-3">
      <p className="flex flex-wrap items-center gap-2">
        <Link to="/loops/$loop" params={{ loop: loop.id }} className="min-w-0 font-medium break-words hover:underline">
          <Name>{loop.title}</Name>
        </Link>
        <StateBadge state={loop.outcome ?? loop.state} />
      </p>
      <p className="flex flex-wrap gap-x-2 text-sm text-muted">
        <span>{plain(loop.agent)}</span>
        <span>{ago(loop.created_at, now)}</span>
        <span>
          {loop.iteration} of at most {loop.iterations_max} iterations
        </span>
        {detail && (
          <>
            <span>
              {completed} of {remaining + in_progress + blocked + completed} tasks done
            </span>
            <span>{loopSpent(detail)}</span>
          </>
        )}
      </p>
      {detail?.reason && <p className="text-sm break-words">{plain(detail.reason)}</p>}
    </li>
  );
}

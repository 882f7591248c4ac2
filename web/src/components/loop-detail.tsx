import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import type { Schemas } from "@/api/client";
import { loopLog, shortId } from "@/api/queries";
import { useNow } from "@/hooks/use-now";
import { Badge } from "@/ui/badge";
import { Disclosure } from "@/ui/disclosure";
import { Loaded } from "@/ui/loaded";
import { ago, dollars, plain, plainLines } from "@/util/text";

import { AnsiText } from "./ansi-text";
import { loopSpent, type Loop } from "./loops";
import { Name } from "./name";
import { StateBadge } from "./state-badge";

/** What a loop was asked to do, with what, and what it has used. */
export function LoopAbout({ loop }: { loop: Loop }) {
  return (
    <section aria-label="About this loop" className="rounded-lg border border-line bg-panel p-3">
      {loop.reason && <p className="mb-2 font-medium break-words">{plain(loop.reason)}</p>}
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-sm">
        <Fact name="Agent">{plain(loop.agent)}</Fact>
        <Fact name="Branch">
          <Name className="font-mono break-all">{loop.branch}</Name>
        </Fact>
        <Fact name="Used">
          {loopSpent(loop)} · {minutes(loop.wall_seconds_used)} at work
        </Fact>
        <Fact name="Budget">{limits(loop.budget) || "not limited"}</Fact>
        {limits(loop.left) && <Fact name="Left of it">{limits(loop.left)}</Fact>}
        {loop.idle_iterations > 0 && loop.state !== "ended" && (
          <Fact name="Nothing changed">in the last {loop.idle_iterations} iterations; it ends after two</Fact>
        )}
      </dl>
      <Disclosure className="mt-2 text-sm" summary="What it was asked to do" summaryClassName="cursor-pointer text-muted">
        <p dir="auto" className="mt-1 break-words whitespace-pre-wrap">
          {plainLines(loop.spec)}
        </p>
      </Disclosure>
    </section>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0">{children}</dd>
    </>
  );
}

const minutes = (seconds: number): string => (seconds < 60 ? `${seconds} s` : `${Math.round(seconds / 60)} min`);

function limits({ tokens, cost_micros, wall_seconds, turns }: Schemas["BudgetInput"]): string {
  const known = (amount: number | null | undefined, shown: (amount: number) => string) =>
    amount === undefined || amount === null ? [] : [shown(amount)];
  return [
    ...known(tokens, (amount) => `${amount.toLocaleString("en")} tokens`),
    ...known(cost_micros, dollars),
    ...known(wall_seconds, minutes),
    ...known(turns, (amount) => `${amount} turns`),
  ].join(" · ");
}

/** The latest iterations, each with its session and what it came to. */
export function LoopIterations({ loop }: { loop: Loop }) {
  return (
    <section aria-label="Iterations" className="flex flex-col gap-2">
      <h2 className="font-semibold">Iterations</h2>
      {loop.iterations.length === 0 && <p className="text-muted">The first has not begun yet.</p>}
      <ol className="flex flex-col gap-2">
        {loop.iterations.map((iteration) => (
          <Iteration key={iteration.number} iteration={iteration} />
        ))}
      </ol>
    </section>
  );
}

function Iteration({ iteration }: { iteration: Schemas["LoopIterationView"] }) {
  const now = useNow();
  return (
    <li className="rounded-lg border border-line bg-panel p-3">
      <p className="flex flex-wrap items-center gap-2">
        <span className="font-medium">Iteration {iteration.number}</span>
        <StateBadge state={iteration.end ?? "running"} />
        {iteration.end && !iteration.changed && <Badge tone="warn">changed nothing</Badge>}
        {iteration.session_id && (
          <Link to="/sessions/$session" params={{ session: shortId(iteration.session_id) }} className="text-accent underline">
            session of iteration {iteration.number}
          </Link>
        )}
        <span className="text-sm text-muted">
          {ago(iteration.began_at, now)} · {loopSpent(iteration)}
        </span>
      </p>
      {iteration.summary && <p className="mt-1 break-words whitespace-pre-wrap">{plainLines(iteration.summary)}</p>}
      {iteration.reason && <p className="mt-1 break-words text-danger">{plain(iteration.reason)}</p>}
    </li>
  );
}

/** What happened, in order, with what hooks said. */
export function LoopLog({ id }: { id: string }) {
  const log = useQuery(loopLog(id));
  return (
    <section aria-label="Log" className="flex flex-col gap-2">
      <h2 className="font-semibold">Log</h2>
      <Loaded query={log}>
        {(entries) => (
          <ol tabIndex={0} aria-label="Entries of the log" className="max-h-96 overflow-y-auto rounded-lg border border-line bg-panel p-3 text-sm">
            {entries.map((entry) => (
              <li key={entry.seq} className="flex gap-2">
                <time dateTime={entry.at} className="shrink-0 font-mono text-xs text-muted">
                  {entry.at.slice(11, 19)}
                </time>
                <span className="min-w-0 break-words whitespace-pre-wrap">
                  {entry.iteration > 0 && <span className="text-muted">#{entry.iteration} </span>}
                  {!["loop", "iteration"].includes(entry.about) && <Badge>{plain(entry.about)}</Badge>}{" "}
                  <AnsiText>{entry.text}</AnsiText>
                </span>
              </li>
            ))}
          </ol>
        )}
      </Loaded>
    </section>
  );
}

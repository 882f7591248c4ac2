import { useId, type ReactNode } from "react";

import type { Schemas, SessionCard } from "@/api/client";
import { useNow } from "@/hooks/use-now";
import { STAGES } from "@/util/session";
import { counted } from "@/util/text";

import { SessionCardItem } from "./session-card";

interface Props {
  sessions: SessionCard[];
  /** How many there are in each column, if not all of them are given. */
  counts?: Schemas["SessionCountsView"] | undefined;
  /** What stands beside each card. */
  actions?: ((session: SessionCard) => ReactNode) | undefined;
}

/** Sessions in columns that follow from facts: of all of them, or of those on a board. */
export function StatusView({ sessions, counts, actions }: Props) {
  const now = useNow();
  const columns = STAGES.map((stage) => {
    const shown = sessions.filter((session) => session.stage === stage.id);
    // A list and its numbers are read one after the other.
    return { ...stage, sessions: shown, count: Math.max(shown.length, counts?.[stage.id] ?? 0) };
  });
  return (
    <div className="grid min-h-0 flex-1 auto-rows-min grid-cols-1 gap-4 overflow-y-auto p-4 md:grid-cols-2 xl:auto-cols-fr xl:grid-flow-col xl:grid-cols-none">
      {columns
        // Nothing to say about an empty column: nothing is there to be done about it.
        .filter((column) => column.empty || column.count > 0)
        .map((column) => (
          <Column key={column.id} title={column.title} empty={column.empty} sessions={column.sessions} count={column.count} actions={actions} now={now} />
        ))}
    </div>
  );
}

interface ColumnProps extends Pick<Props, "sessions" | "actions"> {
  title: string;
  empty: string;
  /** How many there are, shown or not. */
  count: number;
  now: number;
}

function Column({ title, empty, sessions, count, actions, now }: ColumnProps) {
  const heading = useId();
  return (
    <section aria-labelledby={heading} className="flex min-w-0 flex-col gap-2">
      <h2 id={heading} className="flex items-center gap-2 text-sm font-semibold text-muted">
        {title} <span className="font-normal">{count}</span>
      </h2>
      {count === 0 && <p className="rounded-lg border border-dashed border-line p-3 text-sm text-muted">{empty}</p>}
      {sessions.map((session) => (
        <div key={session.id} className="relative">
          <SessionCardItem session={session} now={now} />
          {actions && <div className="absolute right-1 bottom-1">{actions(session)}</div>}
        </div>
      ))}
      {sessions.length < count && <p className="px-1 text-sm text-muted">{counted(count - sessions.length, "older one", "older ones")} not shown</p>}
    </section>
  );
}

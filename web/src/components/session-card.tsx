import { Link } from "@tanstack/react-router";

import type { SessionCard } from "@/api/client";
import { ago, dollars, plain } from "@/util/text";

import { Name } from "./name";
import { StateBadge } from "./state-badge";

/** A session among others: enough to know what it is at. */
export function SessionCardItem({ session, now }: { session: SessionCard; now: number }) {
  const words = session.failure ?? (session.budget_spent ? `Its budget of ${session.budget_spent} is used up.` : session.last_words);
  return (
    <Link
      to="/sessions/$session"
      params={{ session: session.id }}
      className="block rounded-lg border border-line bg-panel p-3 hover:border-accent"
    >
      <div className="flex items-start justify-between gap-2">
        <Name className="line-clamp-2 min-w-0 font-medium break-words">{session.title}</Name>
        <StateBadge state={session.state} />
      </div>
      {words && (
        <p className={`mt-1 line-clamp-2 text-sm break-words ${session.failure ? "text-danger" : "text-muted"}`}>{plain(words)}</p>
      )}
      <p className="mt-2 flex flex-wrap gap-x-2 text-xs text-muted">
        <span>{session.agent}</span>
        <span>{ago(session.updated_at, now)}</span>
        {session.parent && <span>child of {session.parent}</span>}
        {session.cost_micros !== undefined && session.cost_micros !== null && <span>{dollars(session.cost_micros)}</span>}
      </p>
    </Link>
  );
}

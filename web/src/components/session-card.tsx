import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { GitBranch } from "lucide-react";

import type { Schemas, SessionCard } from "@/api/client";
import { approvalList, shortId } from "@/api/queries";
import { ago, plain, unmarked } from "@/util/text";

import { Cost } from "./cost";
import { Name } from "./name";
import { StateBadge } from "./state-badge";

/** A session among others: enough to know what it is at. */
export function SessionCardItem({ session, now }: { session: SessionCard; now: number }) {
  return (
    <Link
      to="/sessions/$session"
      params={{ session: session.id }}
      className="block rounded-lg border border-line bg-panel p-3 hover:border-accent"
    >
      <SessionCardBody session={session} now={now} />
    </Link>
  );
}

/** What is to be known first: what is waited for or went wrong, or else what the agent said last. */
function useWords({ id, failure, budget_spent, state, last_words }: SessionCard): string | undefined {
  const waits = state === "waiting";
  const asked = useInfiniteQuery({ ...approvalList, enabled: waits }).data;
  // The latest comes first; the agent waits for the oldest.
  const first = waits ? asked?.findLast(({ session }) => shortId(session) === id) : undefined;
  if (first) return `Asks: ${first.text}`;
  if (failure) return failure;
  if (budget_spent) return `Its budget of ${budget_spent} is used up.`;
  if (state === "interrupted") return "Its process ended while it was at work.";
  return last_words ? unmarked(last_words) : undefined;
}

/** What a card says, wherever it lies. */
export function SessionCardBody({ session, now }: { session: SessionCard; now: number }) {
  const words = useWords(session);
  return (
    <>
      <span className="flex items-start justify-between gap-2">
        <Name className="line-clamp-3 min-w-0 font-medium break-words">{session.title}</Name>
        <StateBadge state={session.state} />
      </span>
      {words && (
        <span className={`mt-1 line-clamp-2 text-sm break-words ${session.failure ? "text-danger" : "text-muted"}`}>{plain(words)}</span>
      )}
      <span className="mt-2 flex flex-wrap gap-x-2 text-xs text-muted">
        <span>{session.agent}</span>
        <span>{ago(session.updated_at, now)}</span>
        {session.parent && <span>child of {session.parent}</span>}
        {session.cost_micros !== undefined && session.cost_micros !== null && <Cost of={session} />}
        {session.changes && <Changes changes={session.changes} />}
      </span>
      {session.branch && <Branch name={session.branch} />}
    </>
  );
}

/** The branch that a session or a worktree is on. */
export function Branch({ name }: { name: string }) {
  return (
    <span className="mt-1 flex items-center gap-1 text-xs text-muted">
      <GitBranch size={12} aria-hidden="true" className="shrink-0" />
      <Name className="min-w-0 truncate font-mono">{name}</Name>
    </span>
  );
}

/** Changed lines, and what is not committed. */
export function Changes({ changes }: { changes: Schemas["ChangesView"] }) {
  if (changes.added + changes.deleted === 0) {
    return null;
  }
  return (
    <span>
      <span className="sr-only">Changed lines: </span>
      <span className="text-good">+{changes.added}</span> <span className="text-danger">−{changes.deleted}</span>
      {changes.dirty && " not committed"}
    </span>
  );
}

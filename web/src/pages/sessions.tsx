import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import type { ReactNode } from "react";

import type { SessionCard } from "@/api/client";
import { needsYouList, sessionCounts, sessionList } from "@/api/queries";
import { LoopsUnderWay } from "@/components/loops";
import { NewSession } from "@/components/new-session";
import { StatusView } from "@/components/status-view";
import { usePageTitle } from "@/hooks/use-page-title";
import { Button } from "@/ui/button";
import { Loaded } from "@/ui/loaded";

/** Every session, in columns that follow from what it is at. */
export function SessionsPage() {
  usePageTitle("Sessions");
  const sessions = useInfiniteQuery(sessionList);
  const needed = useInfiniteQuery(needsYouList);
  return (
    <Loaded query={sessions}>
      {(newest) =>
        newest.length === 0 ? (
          <FirstRun />
        ) : (
          <Columns sessions={withOlder(newest, needed.data ?? [])}>
            {sessions.hasNextPage && (
              <Older shown={newest.length} isReading={sessions.isFetchingNextPage} onMore={() => void sessions.fetchNextPage()} />
            )}
          </Columns>
        )
      }
    </Loaded>
  );
}

/** Adds what needs the user and is older than all that was read. */
function withOlder(newest: SessionCard[], needed: SessionCard[]): SessionCard[] {
  const known = new Set(newest.map(({ id }) => id));
  return [...newest, ...needed.filter(({ id }) => !known.has(id))];
}

function FirstRun() {
  return (
    <div className="mx-auto max-w-2xl p-6">
      <h1 className="text-xl font-semibold">Welcome to Wheelhouse</h1>
      <p className="mt-1 mb-6 text-muted">
        Agents work in their own checkouts of your repositories; you see what they do, answer what they ask, and steer. Start the
        first one here. The agent <b>echo</b> needs no key and does what the lines of its prompt say.
      </p>
      <NewSession />
    </div>
  );
}

function Columns({ sessions, children }: { sessions: SessionCard[]; children: ReactNode }) {
  const counts = useQuery(sessionCounts).data;
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex items-center justify-between gap-3 px-4 pt-4">
        <h1 className="text-xl font-semibold">Sessions</h1>
        <Link
          to="/new"
          className="inline-flex items-center gap-1.5 rounded-md bg-accent px-3 py-1.5 text-sm font-medium text-on-accent hover:opacity-90"
        >
          <Plus size={14} aria-hidden="true" /> New session
        </Link>
      </div>
      <LoopsUnderWay />
      <StatusView sessions={sessions} counts={counts} />
      {children}
    </div>
  );
}

/** Says how many sessions there are besides those shown, and shows more of them. */
function Older({ shown, isReading, onMore }: { shown: number; isReading: boolean; onMore: () => void }) {
  const total = useQuery(sessionCounts).data?.total;
  return (
    <div className="flex flex-wrap items-center gap-3 border-t border-line px-4 py-2 text-sm text-muted">
      <p>
        Showing the {shown} newest{total !== undefined && ` of ${total}`} sessions and all that need you.
      </p>
      <Button disabled={isReading} onClick={onMore}>
        Show older
      </Button>
    </div>
  );
}

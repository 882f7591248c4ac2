import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useId } from "react";

import type { SessionCard } from "@/api/client";
import { SESSIONS_SHOWN, sessionList } from "@/api/queries";
import { LoopsUnderWay } from "@/components/loops";
import { NewSession } from "@/components/new-session";
import { SessionCardItem } from "@/components/session-card";
import { useNow } from "@/hooks/use-now";
import { usePageTitle } from "@/hooks/use-page-title";
import { Loaded } from "@/ui/loaded";
import { COLUMNS, columnOf } from "@/util/session";

/** Every session, in columns that follow from what it is at. */
export function SessionsPage() {
  usePageTitle("Sessions");
  const sessions = useQuery(sessionList);
  return (
    <Loaded query={sessions}>
      {(data) => (data.sessions.length === 0 ? <FirstRun /> : <Columns sessions={data.sessions} hasMore={!!data.next_cursor} />)}
    </Loaded>
  );
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

function Columns({ sessions, hasMore }: { sessions: SessionCard[]; hasMore: boolean }) {
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
      <div className="grid min-h-0 flex-1 grid-cols-1 gap-4 overflow-y-auto p-4 md:grid-cols-2 xl:grid-cols-4">
        {COLUMNS.map((column) => (
          <Column
            key={column.id}
            title={column.title}
            empty={column.empty}
            sessions={sessions.filter((session) => columnOf(session) === column.id)}
          />
        ))}
      </div>
      {hasMore && (
        <p className="px-4 pb-3 text-sm text-muted">
          The {SESSIONS_SHOWN} newest are shown; `wheelhouse ls` lists all of them.
        </p>
      )}
    </div>
  );
}

function Column({ title, empty, sessions }: { title: string; empty: string; sessions: SessionCard[] }) {
  const now = useNow();
  const heading = useId();
  return (
    <section aria-labelledby={heading} className="flex min-w-0 flex-col gap-2">
      <h2 id={heading} className="flex items-center gap-2 text-sm font-semibold text-muted">
        {title} <span className="font-normal">{sessions.length}</span>
      </h2>
      {sessions.length === 0 && <p className="rounded-lg border border-dashed border-line p-3 text-sm text-muted">{empty}</p>}
      {sessions.map((session) => (
        <SessionCardItem key={session.id} session={session} now={now} />
      ))}
    </section>
  );
}

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Plus } from "lucide-react";

import type { SessionCard } from "@/api/client";
import { SESSIONS_SHOWN, sessionList } from "@/api/queries";
import { LoopsUnderWay } from "@/components/loops";
import { NewSession } from "@/components/new-session";
import { StatusView } from "@/components/status-view";
import { usePageTitle } from "@/hooks/use-page-title";
import { Loaded } from "@/ui/loaded";

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
      <StatusView sessions={sessions} />
      {hasMore && (
        <p className="px-4 pb-3 text-sm text-muted">
          The {SESSIONS_SHOWN} newest are shown; `wheelhouse ls` lists all of them.
        </p>
      )}
    </div>
  );
}

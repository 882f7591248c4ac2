import { useQueries } from "@tanstack/react-query";

import type { Approval, SessionCard } from "@/api/client";
import { approvalList, needsYouList } from "@/api/queries";

export interface Inbox {
  /** Permissions and questions. */
  approvals: Approval[];
  /** Sessions that failed or were interrupted. */
  broken: SessionCard[];
  /** Sessions whose budget is used up. */
  spent: SessionCard[];
  count: number;
}

function inboxOf(approvals: Approval[], sessions: SessionCard[]): Inbox {
  // Those that wait are there by what they ask.
  const broken = sessions.filter(({ state }) => state === "failed" || state === "interrupted");
  const spent = sessions.filter(({ state }) => state === "idle");
  return { approvals, broken, spent, count: approvals.length + broken.length + spent.length };
}

/** All that waits for a person. The server says what does. */
export function useInbox() {
  return useQueries({
    queries: [approvalList, needsYouList],
    combine: ([asked, troubled]) => ({
      data: asked.data && troubled.data ? inboxOf(asked.data.approvals, troubled.data.sessions) : undefined,
      isError: asked.isError || troubled.isError,
      error: asked.error ?? troubled.error,
      refetch: () => Promise.all([asked.refetch(), troubled.refetch()]),
    }),
  });
}

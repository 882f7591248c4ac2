import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";

import type { Approval, SessionCard } from "@/api/client";
import { approvalList, needsYouList, sessionCounts } from "@/api/queries";

export interface Inbox {
  /** Permissions and questions. */
  approvals: Approval[];
  /** Sessions that failed or were interrupted. */
  broken: SessionCard[];
  /** Sessions whose budget is used up. */
  spent: SessionCard[];
}

function inboxOf(approvals: Approval[], sessions: SessionCard[]): Inbox {
  // Those that wait are there by what they ask.
  const broken = sessions.filter(({ state }) => state === "failed" || state === "interrupted");
  const spent = sessions.filter(({ state }) => state === "idle");
  return { approvals, broken, spent };
}

/** How many sessions need the user, as the server counts them. */
export function useWaiting(): number {
  return useQuery(sessionCounts).data?.needs_you ?? 0;
}

/** All that waits for a person. The server says what does. */
export function useInbox() {
  const asked = useInfiniteQuery(approvalList);
  const troubled = useInfiniteQuery(needsYouList);
  const { data: approvals } = asked;
  const { data: sessions } = troubled;
  const data = useMemo(() => (approvals && sessions ? inboxOf(approvals, sessions) : undefined), [approvals, sessions]);
  return {
    data,
    isError: asked.isError || troubled.isError,
    error: asked.error ?? troubled.error,
    refetch: () => Promise.all([asked.refetch(), troubled.refetch()]),
    /** Whether there is more than was read. */
    hasMore: asked.hasNextPage || troubled.hasNextPage,
    isReadingMore: asked.isFetchingNextPage || troubled.isFetchingNextPage,
    readMore: () => Promise.all([asked, troubled].filter((one) => one.hasNextPage).map((one) => one.fetchNextPage())),
  };
}

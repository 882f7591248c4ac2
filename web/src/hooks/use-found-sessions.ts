import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";

import type { SessionCard } from "@/api/client";
import { sessionList, sessionsFound } from "@/api/queries";

/** How long the server is not asked while somebody types. */
const PAUSE_MS = 150;

/** The limits of the server's search by title. */
const BYTES_MAX = 200;
const WORDS_MAX = 8;

interface FoundSessions {
  /** The newest ones, and all that the server found. */
  all: SessionCard[];
  /** Those that the server found by the words. */
  found: ReadonlySet<string>;
  isReading: boolean;
}

/** Finds sessions by words of their titles: at once among the newest, and a moment later among all that the server has. */
export function useFoundSessions(words: string): FoundSessions {
  const wanted = words.trim().split(/\s+/).slice(0, WORDS_MAX).join(" ").slice(0, BYTES_MAX / 4);
  const settled = useSettled(wanted);
  const newest = useInfiniteQuery(sessionList);
  const answer = useQuery(sessionsFound(settled));
  const matches = settled === "" || answer.isPlaceholderData ? undefined : answer.data?.sessions;
  return useMemo(() => {
    const known = new Map((newest.data ?? []).map((session) => [session.id, session]));
    matches?.forEach((session) => known.set(session.id, session));
    return {
      all: [...known.values()],
      found: new Set(settled === wanted ? matches?.map(({ id }) => id) : []),
      isReading: newest.isPending || (wanted !== "" && (settled !== wanted || answer.isFetching)),
    };
  }, [newest.data, newest.isPending, matches, settled, wanted, answer.isFetching]);
}

/** A text once it has not changed for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

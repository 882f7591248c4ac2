import { useInfiniteQuery, useQuery } from "@tanstack/react-query";

import { session, sessionList } from "@/api/queries";

/** Returns the title of a session, or its id as long as it is not known. One that is not in the list is read by itself. */
export function useSessionTitle(id: string): string {
  const { data: list, isPending } = useInfiniteQuery(sessionList);
  const listed = list?.find((one) => one.id === id)?.title;
  const { data: read } = useQuery({ ...session(id), enabled: !isPending && listed === undefined });
  return listed ?? read?.title ?? `Session ${id}`;
}

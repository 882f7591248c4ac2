import type { QueryClient, QueryKey } from "@tanstack/react-query";

/** Tells whether something was told of that is not in the cache yet. */
export const isStale = (client: QueryClient, queryKey: QueryKey): boolean => client.getQueryState(queryKey)?.isInvalidated ?? false;

/**
 * Puts something into the cache. Whatever is put there counts as read just now, so what was out of date before is marked again:
 * nobody would read it any more.
 */
export function put<T>(client: QueryClient, queryKey: QueryKey, value: T | ((kept: T | undefined) => T | undefined)): void {
  const wasStale = isStale(client, queryKey);
  client.setQueryData<T>(queryKey, value);
  if (wasStale) {
    void client.invalidateQueries({ queryKey, exact: true, refetchType: "none" });
  }
}

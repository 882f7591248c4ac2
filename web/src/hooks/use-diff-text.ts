import { useQueries, type UseQueryResult } from "@tanstack/react-query";

import type { FileChange } from "@/api/client";
import { worktreeText, type Stretch } from "@/api/queries";

/** Up to so many files the text of all is asked for at once, which costs the server one command. */
const ALL_AT_ONCE = 300;
const FILES_OF_MANY = 20;

/** The stretches of a list in which the given files are. */
export function stretchesOf(places: number[], total: number): Stretch[] {
  if (total <= ALL_AT_ONCE) {
    return places.length === 0 ? [] : [{ first: 0, count: ALL_AT_ONCE }];
  }
  const firsts = new Set(places.map((place) => place - (place % FILES_OF_MANY)));
  return [...firsts].sort((a, b) => a - b).map((first) => ({ first, count: FILES_OF_MANY }));
}

/**
 * The text of the changes of the files that are seen, by path, and whether more of it is on its way. Nothing else is read, or read
 * again when something changes. `places` are where the seen files stand in the server's list.
 */
export function useDiffText(worktree: string, places: number[], total: number) {
  return useQueries({ queries: stretchesOf(places, total).map((stretch) => worktreeText(worktree, stretch)), combine });
}

/** Stands by itself, so that it is called only when something was read. */
function combine(results: UseQueryResult<FileChange[]>[]) {
  return {
    texts: new Map(results.flatMap((result) => result.data ?? []).map((file) => [file.path, file])),
    isReading: results.some((result) => result.isFetching),
  };
}

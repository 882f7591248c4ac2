import { useCallback, useMemo, useState } from "react";

import type { FileChange } from "@/api/client";
import { useStored } from "@/hooks/use-stored";
import { asViewed, lookOf, looksAs, type Viewed } from "@/util/viewed";

/** A file with more changed lines than this is folded until somebody opens it. */
export const LINES_OPEN_MAX = 800;

export const changedLines = (file: FileChange | undefined): number => (file?.added ?? 0) + (file?.deleted ?? 0);

/** Which files of a diff were viewed, kept in this tab, and which are folded. */
export function useFolds(session: string, files: FileChange[], texts: ReadonlyMap<string, FileChange>) {
  const [stored, setStored] = useStored<Viewed>(`viewed-${session}`, [], asViewed);
  const [chosen, setChosen] = useState<ReadonlyMap<string, boolean>>(new Map());
  const viewed = useMemo(() => {
    const looks = new Map(stored);
    const isSame = (file: FileChange) => looksAs(looks.get(file.path), file, texts.get(file.path));
    return new Set(files.filter(isSame).map((file) => file.path));
  }, [stored, files, texts]);
  const fold = useCallback((path: string, isFolded: boolean) => setChosen((kept) => new Map(kept).set(path, isFolded)), []);
  const view = useCallback(
    (file: FileChange, isViewed: boolean) => {
      setStored((kept) => [...kept.filter(([path]) => path !== file.path), ...(isViewed ? [[file.path, lookOf(file)] as [string, string]] : [])]);
      fold(file.path, isViewed);
    },
    [setStored, fold],
  );
  const isFolded = (file: FileChange) =>
    chosen.get(file.path) ?? (viewed.has(file.path) || changedLines(file) > LINES_OPEN_MAX);
  return { viewed, view, fold, isFolded };
}

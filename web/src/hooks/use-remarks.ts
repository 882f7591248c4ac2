import { useMemo } from "react";

import { useStored } from "@/hooks/use-stored";
import type { LineComment } from "@/util/comments";

/** Comments on a diff that were not sent yet, and those that are still being written. Both outlive a reload. */
export interface Remarks {
  comments: LineComment[];
  of: (path: string) => LineComment[];
  /** What stands in the boxes that are open, by the line they belong to. */
  drafts: Readonly<Record<string, string>>;
  /** Opens a box or changes what is in it; closes it without a text. */
  write: (line: string, text: string | undefined) => void;
  add: (comment: LineComment) => void;
  remove: (id: string) => void;
  clear: () => void;
}

/** Names a line of a file. It never is the name of something that every object has. */
export const lineKey = (path: string, { side, line }: Pick<LineComment, "side" | "line">) => `${path}:${side}:${line}`;

const NONE: LineComment[] = [];

const asComments = (value: unknown): LineComment[] | undefined =>
  Array.isArray(value) ? (value as LineComment[]) : undefined;
const asDrafts = (value: unknown): Record<string, string> | undefined =>
  typeof value === "object" && value !== null ? (value as Record<string, string>) : undefined;

export function useRemarks(session: string): Remarks {
  const [comments, setComments] = useStored<LineComment[]>(`comments-${session}`, [], asComments);
  const [drafts, setDrafts] = useStored<Record<string, string>>(`comment-drafts-${session}`, {}, asDrafts);
  return useMemo(() => {
    const byPath = new Map<string, LineComment[]>();
    comments.forEach((comment) => byPath.set(comment.path, [...(byPath.get(comment.path) ?? []), comment]));
    const write = (line: string, text: string | undefined) =>
      setDrafts(({ [line]: _, ...others }) => (text === undefined ? others : { ...others, [line]: text }));
    return {
      comments,
      drafts,
      write,
      of: (path) => byPath.get(path) ?? NONE,
      add: (comment) => {
        setComments((all) => [...all, comment]);
        write(lineKey(comment.path, comment), undefined);
      },
      remove: (id) => setComments((all) => all.filter((comment) => comment.id !== id)),
      clear: () => setComments([]),
    };
  }, [comments, drafts, setComments, setDrafts]);
}

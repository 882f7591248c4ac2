import type { FileChange } from "@/api/client";

/** A short sum of a text: the same text has the same one, and another most likely has another. */
function sum(text: string): string {
  let hash = 5381;
  for (let index = 0; index < text.length; index += 1) {
    hash = ((hash * 33) ^ text.charCodeAt(index)) >>> 0;
  }
  return hash.toString(36);
}

const countsOf = ({ change, added, deleted }: FileChange) => `${change} ${added ?? "-"} ${deleted ?? "-"} `;

/** What a file's change looks like. When it looks otherwise, it was not viewed yet. */
export function lookOf(file: FileChange): string {
  return countsOf(file) + sum(file.patch ?? "");
}

/** Tells whether a file looks as it did. Without its text, which may not have been read, the counts have to do. */
export function looksAs(look: string | undefined, file: FileChange, withText: FileChange | undefined): boolean {
  return withText ? look === lookOf(withText) : (look?.startsWith(countsOf(file)) ?? false);
}

/** Which files somebody has seen, and what they looked like then. A list, so that no name means anything but itself. */
export type Viewed = [path: string, look: string][];

export const asViewed = (value: unknown): Viewed | undefined =>
  Array.isArray(value) && value.every((one) => Array.isArray(one) && one.length === 2) ? (value as Viewed) : undefined;

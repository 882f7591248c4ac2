import type { PatchLine } from "./patch";

/** A comment on a line of a diff that was not sent yet. */
export interface LineComment {
  id: string;
  path: string;
  side: "old" | "new";
  line: number;
  /** The line as it was commented on, with its sign. */
  quote: string;
  text: string;
}

/** Where a comment on a line belongs: what was deleted has only an old number. */
export function placeOf(line: PatchLine): Pick<LineComment, "side" | "line" | "quote"> | undefined {
  const sign = line.kind === "added" ? "+" : line.kind === "deleted" ? "-" : " ";
  const quote = `${sign}${line.text}`;
  if (line.new !== undefined) return { side: "new", line: line.new, quote };
  if (line.old !== undefined) return { side: "old", line: line.old, quote };
  return undefined;
}

/** Writes all comments as one prompt, in the order of the files. */
export function commentsPrompt(comments: LineComment[]): string {
  const one = (comment: LineComment) => {
    const was = comment.side === "old" ? " (before the change)" : "";
    return `${comment.path}:${comment.line}${was}\n> ${comment.quote}\n${comment.text.trim()}`;
  };
  const sorted = [...comments].sort((a, b) => a.path.localeCompare(b.path) || a.line - b.line);
  const heading =
    comments.length === 1
      ? "Please see to this comment on your changes:"
      : `Please see to these ${comments.length} comments on your changes:`;
  return [heading, ...sorted.map(one)].join("\n\n");
}

/** A line of a patch. */
export interface PatchLine {
  kind: "context" | "added" | "deleted" | "note";
  text: string;
  /** Its number before and after. */
  old?: number;
  new?: number;
}

export interface Hunk {
  heading: string;
  lines: PatchLine[];
}

const HEADING = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)$/;

/** Reads the hunks of one file's patch. What comes before the first is left out. */
export function hunksOf(patch: string): Hunk[] {
  const hunks: Hunk[] = [];
  let before = 0;
  let after = 0;
  let left = 0;
  for (const line of patch.split("\n")) {
    const heading = left <= 0 ? HEADING.exec(line) : null;
    if (heading) {
      before = Number(heading[1]);
      after = Number(heading[3]);
      left = Number(heading[2] ?? 1) + Number(heading[4] ?? 1);
      hunks.push({ heading: line, lines: [] });
      continue;
    }
    const lines = hunks.at(-1)?.lines;
    if (!lines) {
      continue;
    }
    const text = line.slice(1);
    if (line.startsWith("\\")) {
      lines.push({ kind: "note", text: text.trim() });
    } else if (left <= 0) {
      continue;
    } else if (line.startsWith("+")) {
      left -= 1;
      lines.push({ kind: "added", text, new: after++ });
    } else if (line.startsWith("-")) {
      left -= 1;
      lines.push({ kind: "deleted", text, old: before++ });
    } else {
      left -= 2;
      lines.push({ kind: "context", text, old: before++, new: after++ });
    }
  }
  return hunks;
}

/** Puts what was deleted beside what took its place. */
export function sideBySide(lines: PatchLine[]): [PatchLine | undefined, PatchLine | undefined][] {
  const rows: [PatchLine | undefined, PatchLine | undefined][] = [];
  let deleted: PatchLine[] = [];
  let added: PatchLine[] = [];
  const flush = () => {
    for (let i = 0; i < Math.max(deleted.length, added.length); i += 1) {
      rows.push([deleted[i], added[i]]);
    }
    deleted = [];
    added = [];
  };
  for (const line of lines) {
    if (line.kind === "deleted") {
      if (added.length > 0) flush();
      deleted.push(line);
    } else if (line.kind === "added") {
      added.push(line);
    } else {
      flush();
      rows.push([line, line]);
    }
  }
  flush();
  return rows;
}

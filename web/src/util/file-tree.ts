/** What is known of a changed file. */
export interface ChangedFile {
  path: string;
  change: string;
  /** Absent for a binary file. */
  added?: number | null | undefined;
  deleted?: number | null | undefined;
}

interface Part {
  /** Names it among all others; a folder's ends with a stroke, so that a file that became a folder is another. */
  key: string;
  /** What is shown: of folders that have nothing but one folder in them, all names. */
  name: string;
  added: number;
  deleted: number;
}

export interface FilePart<F extends ChangedFile> extends Part {
  kind: "file";
  file: F;
}

export interface FolderPart<F extends ChangedFile> extends Part {
  kind: "folder";
  parts: TreePart<F>[];
  /** How many files are in it, however deep. */
  files: number;
}

export type TreePart<F extends ChangedFile> = FilePart<F> | FolderPart<F>;

interface Draft<F> {
  folders: Map<string, Draft<F>>;
  /** Files and folders in the order in which they came. */
  order: ({ folder: string } | { name: string; file: F })[];
}

const draft = <F>(): Draft<F> => ({ folders: new Map(), order: [] });

/** Makes a tree of changed files. They stay in their order, but for what is in one folder, which stands together. */
export function fileTree<F extends ChangedFile>(files: F[]): TreePart<F>[] {
  const root = draft<F>();
  for (const file of files) {
    const names = file.path.split("/");
    const name = names.pop() ?? "";
    let here = root;
    for (const folder of names) {
      let inner = here.folders.get(folder);
      if (!inner) {
        inner = draft<F>();
        here.folders.set(folder, inner);
        here.order.push({ folder });
      }
      here = inner;
    }
    here.order.push({ name, file });
  }
  return partsOf(root, "");
}

function partsOf<F extends ChangedFile>(from: Draft<F>, above: string): TreePart<F>[] {
  return from.order.map((entry): TreePart<F> => {
    if ("file" in entry) {
      const { name, file } = entry;
      return { kind: "file", key: above + name, name, file, added: file.added ?? 0, deleted: file.deleted ?? 0 };
    }
    return folderOf(from, entry.folder, above);
  });
}

function folderOf<F extends ChangedFile>(from: Draft<F>, first: string, above: string): FolderPart<F> {
  let name = first;
  let inner = from.folders.get(first) ?? draft<F>();
  for (;;) {
    const [only, more] = inner.order;
    if (!only || more || !("folder" in only)) {
      break;
    }
    name += `/${only.folder}`;
    inner = inner.folders.get(only.folder) ?? draft<F>();
  }
  const key = `${above}${name}/`;
  const parts = partsOf(inner, key);
  const sum = (of: (part: TreePart<F>) => number) => parts.reduce((total, part) => total + of(part), 0);
  return {
    kind: "folder",
    key,
    name,
    parts,
    files: sum((part) => (part.kind === "file" ? 1 : part.files)),
    added: sum((part) => part.added),
    deleted: sum((part) => part.deleted),
  };
}

/** A line of the tree as it is shown. */
export interface TreeRow<F extends ChangedFile> {
  part: TreePart<F>;
  /** 1 at the top. */
  level: number;
  /** Which of how many it is beside, from 1. */
  place: number;
  of: number;
  isOpen: boolean;
}

/** The lines of a tree in which some folders are closed. */
export function rowsOf<F extends ChangedFile>(parts: TreePart<F>[], closed: ReadonlySet<string>, level = 1): TreeRow<F>[] {
  return parts.flatMap((part, index) => {
    const isOpen = part.kind === "folder" && !closed.has(part.key);
    const row = { part, level, place: index + 1, of: parts.length, isOpen };
    return isOpen ? [row, ...rowsOf(part.parts, closed, level + 1)] : [row];
  });
}

/** The files in the order of the tree. */
export function filesOf<F extends ChangedFile>(parts: TreePart<F>[]): F[] {
  return parts.flatMap((part) => (part.kind === "file" ? [part.file] : filesOf(part.parts)));
}

/** The files whose path has all the given words in it, in any case. */
export function matching<F extends ChangedFile>(files: F[], words: string): F[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return files.filter((file) => wanted.every((word) => file.path.toLowerCase().includes(word)));
}

/** What a key does in a tree, seen from a line of it. */
export type TreeMove = { to: number } | { toggle: string } | undefined;

/** Moves in a tree as trees everywhere do: up and down, right into a folder, left out of it. */
export function treeMove<F extends ChangedFile>(rows: TreeRow<F>[], at: number, key: string): TreeMove {
  const row = rows[at];
  const within = (index: number) => ({ to: Math.max(0, Math.min(rows.length - 1, index)) });
  switch (key) {
    case "ArrowDown":
      return within(at + 1);
    case "ArrowUp":
      return within(at - 1);
    case "Home":
      return within(0);
    case "End":
      return within(rows.length - 1);
    case "ArrowRight":
      if (row?.part.kind !== "folder") return undefined;
      return row.isOpen ? within(at + 1) : { toggle: row.part.key };
    case "ArrowLeft": {
      if (!row) return undefined;
      if (row.isOpen) return { toggle: row.part.key };
      const parent = rows.slice(0, at).findLastIndex((other) => other.level < row.level);
      return parent < 0 ? undefined : { to: parent };
    }
    default:
      return undefined;
  }
}

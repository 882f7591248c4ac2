import { useVirtualizer } from "@tanstack/react-virtual";
import { Check, ChevronRight, MessageSquare } from "lucide-react";
import { useId, useMemo, useRef, useState, type KeyboardEvent } from "react";

import type { FileChange } from "@/api/client";
import { fileTree, matching, rowsOf, treeMove, type TreePart, type TreeRow } from "@/util/file-tree";
import { counted, plain } from "@/util/text";

import { Name } from "./name";

/** From how many files on they can be filtered. */
const FILTER_FROM = 10;
const ROW_PIXELS = 28;
/** How high the tree gets above the diff, before it scrolls. */
const ABOVE_PIXELS = 196;
const INDENTS_MAX = 10;

interface Props {
  files: FileChange[];
  /** The file that is seen in the diff. */
  current: string | undefined;
  /** Whether there is room for it beside the diff. */
  isBeside: boolean;
  isViewed: (path: string) => boolean;
  commentsOn: (path: string) => number;
  onPick: (path: string) => void;
}

/** The changed files as a tree; one that is picked comes into view. */
export function DiffTree({ files, current, isBeside, onPick, ...about }: Props) {
  const [words, setWords] = useState("");
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [active, setActive] = useState<string>();
  const found = useMemo(() => matching(files, words), [files, words]);
  const rows = useMemo(() => rowsOf(fileTree(found), closed), [found, closed]);
  const tree = useRef<HTMLDivElement>(null);
  const id = useId();
  const drawn = useVirtualizer({
    count: rows.length,
    getScrollElement: () => tree.current,
    estimateSize: () => ROW_PIXELS,
    overscan: 8,
  });
  const at = Math.max(0, rows.findIndex(({ part }) => part.key === (active ?? current)));
  const toggle = (key: string) =>
    setClosed((kept) => (kept.has(key) ? new Set([...kept].filter((other) => other !== key)) : new Set([...kept, key])));
  const open = (part: TreePart<FileChange> | undefined) => {
    if (part) {
      setActive(part.key);
      if (part.kind === "file") onPick(part.file.path);
      else toggle(part.key);
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const move = treeMove(rows, at, event.key);
    if (event.key === "Enter" || event.key === " ") {
      open(rows[at]?.part);
    } else if (move && "toggle" in move) {
      toggle(move.toggle);
    } else if (move) {
      setActive(rows[move.to]?.part.key);
      drawn.scrollToIndex(move.to);
    } else {
      return;
    }
    event.preventDefault();
  };
  return (
    <nav
      aria-label="Changed files"
      className={`flex shrink-0 flex-col bg-panel ${isBeside ? "w-64 border-r border-line" : "border-b border-line"}`}
    >
      {files.length >= FILTER_FROM && (
        <Filter
          words={words}
          found={found.length}
          onChange={setWords}
          onEnter={() => found[0] && onPick(found[0].path)}
          onDown={() => tree.current?.focus()}
        />
      )}
      {rows.length === 0 ? (
        <p className="px-3 py-2 text-sm text-muted">No file is called so.</p>
      ) : (
        <div
          ref={tree}
          role="tree"
          aria-label="Files"
          tabIndex={0}
          aria-activedescendant={`${id}-${at}`}
          onKeyDown={onKeyDown}
          className="group/tree min-h-0 flex-1 overflow-y-auto py-1 -outline-offset-2"
          style={isBeside ? undefined : { height: Math.min(ABOVE_PIXELS, rows.length * ROW_PIXELS + 8), flex: "none" }}
        >
          <div role="none" className="relative" style={{ height: drawn.getTotalSize() }}>
            {drawn.getVirtualItems().map((item) => {
              const row = rows[item.index];
              return (
                row && (
                  <Row
                    key={row.part.key}
                    id={`${id}-${item.index}`}
                    row={row}
                    top={item.start}
                    isActive={item.index === at}
                    isCurrent={row.part.kind === "file" && row.part.file.path === current}
                    onOpen={() => open(row.part)}
                    {...about}
                  />
                )
              );
            })}
          </div>
        </div>
      )}
    </nav>
  );
}

interface FilterProps {
  words: string;
  found: number;
  onChange: (words: string) => void;
  onEnter: () => void;
  onDown: () => void;
}

function Filter({ words, found, onChange, onEnter, onDown }: FilterProps) {
  return (
    <div className="p-2">
      <input
        type="search"
        aria-label="Filter files"
        placeholder="Filter files"
        className="field py-1 text-sm"
        value={words}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") onEnter();
          else if (event.key === "ArrowDown") onDown();
          else return;
          event.preventDefault();
        }}
      />
      <span role="status" className="sr-only">
        {words && counted(found, "file")}
      </span>
    </div>
  );
}

const LETTERS: Record<string, [string, string]> = {
  added: ["A", "text-good"],
  deleted: ["D", "text-danger"],
  renamed: ["R", "text-info"],
  copied: ["C", "text-info"],
  type_changed: ["T", "text-warn"],
  unmerged: ["U", "text-danger"],
};

interface RowProps extends Pick<Props, "isViewed" | "commentsOn"> {
  id: string;
  row: TreeRow<FileChange>;
  top: number;
  isActive: boolean;
  isCurrent: boolean;
  onOpen: () => void;
}

function Row({ id, row, top, isActive, isCurrent, isViewed, commentsOn, onOpen }: RowProps) {
  const { part, level } = row;
  const comments = commentsIn(part, commentsOn);
  const isDone = part.kind === "file" && isViewed(part.file.path);
  const told = [
    part.kind === "file" ? part.file.change.replace("_", " ") : counted(part.files, "file"),
    `${part.added} added, ${part.deleted} deleted`,
    comments > 0 && `${counted(comments, "comment")} not sent`,
    isDone && "viewed",
  ];
  return (
    <div
      id={id}
      role="treeitem"
      aria-level={level}
      aria-posinset={row.place}
      aria-setsize={row.of}
      aria-expanded={part.kind === "folder" ? row.isOpen : undefined}
      aria-current={isCurrent ? "true" : undefined}
      aria-selected={isActive}
      title={plain(part.key)}
      onClick={onOpen}
      className={`absolute right-0 left-0 flex cursor-pointer items-center gap-1.5 pr-2 text-sm hover:bg-sunken ${isCurrent ? "bg-accent-soft" : ""} ${isActive ? "group-focus-visible/tree:outline-2 group-focus-visible/tree:-outline-offset-2 group-focus-visible/tree:outline-accent" : ""}`}
      style={{ top, height: ROW_PIXELS, paddingLeft: 8 + Math.min(level - 1, INDENTS_MAX) * 12 }}
    >
      {part.kind === "folder" ? (
        <ChevronRight size={14} aria-hidden="true" className={`shrink-0 text-muted ${row.isOpen ? "rotate-90" : ""}`} />
      ) : (
        <Letter change={part.file.change} />
      )}
      <Name className={`min-w-0 flex-1 truncate ${isDone ? "text-muted" : ""}`}>{part.name}</Name>
      <span className="sr-only">{told.filter(Boolean).join(", ")}</span>
      {comments > 0 && (
        <span aria-hidden="true" className="inline-flex shrink-0 items-center gap-0.5 text-xs text-warn">
          <MessageSquare size={12} /> {comments}
        </span>
      )}
      {isDone && <Check size={13} aria-hidden="true" className="shrink-0 text-muted" />}
      {part.kind === "file" && (
        <span aria-hidden="true" className="shrink-0 text-xs tabular-nums">
          {part.added > 0 && <span className="text-good">+{part.added}</span>} {part.deleted > 0 && <span className="text-danger">−{part.deleted}</span>}
        </span>
      )}
    </div>
  );
}

function Letter({ change }: { change: string }) {
  const [letter, look] = LETTERS[change] ?? ["M", "text-muted"];
  return (
    <span aria-hidden="true" className={`w-3.5 shrink-0 text-center font-mono text-xs font-semibold ${look}`}>
      {letter}
    </span>
  );
}

function commentsIn(part: TreePart<FileChange>, on: (path: string) => number): number {
  return part.kind === "file" ? on(part.file.path) : part.parts.reduce((sum, inner) => sum + commentsIn(inner, on), 0);
}

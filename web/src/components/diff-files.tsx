import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef } from "react";

import type { Diff } from "@/api/client";
import { useDiffText } from "@/hooks/use-diff-text";
import { changedLines, LINES_OPEN_MAX, useFolds } from "@/hooks/use-folds";
import type { Remarks } from "@/hooks/use-remarks";
import { fileTree, filesOf } from "@/util/file-tree";
import { counted } from "@/util/text";

import { DiffTree } from "./diff-tree";
import { FileDiff, type Layout } from "./file-diff";

const HEADING_PIXELS = 38;
const LINE_PIXELS = 24;
/** Lines around changes, and the headings of hunks: a guess that is corrected when a file is shown. */
const AROUND_LINES = 7;

interface Props {
  session: string;
  worktree: string;
  diff: Diff;
  layout: Layout;
  remarks: Remarks;
  /** Where the tree of files stands, if it is shown. */
  tree: "beside" | "above" | undefined;
}

/** The changed files, one below the other, and their tree. Only what is seen is drawn, and its text read. */
export function DiffFiles({ session, worktree, diff, layout, remarks, tree }: Props) {
  const files = useMemo(() => filesOf(fileTree(diff.files)), [diff.files]);
  const places = useMemo(() => new Map(diff.files.map((file, place) => [file.path, place])), [diff.files]);
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: files.length,
    getScrollElement: () => scroller.current,
    getItemKey: (index) => files[index]?.path ?? index,
    estimateSize: (index) => {
      const lines = changedLines(files[index]);
      return HEADING_PIXELS + (lines > LINES_OPEN_MAX ? 0 : (lines + AROUND_LINES) * LINE_PIXELS);
    },
    overscan: 2,
    gap: 12,
    paddingStart: 12,
    paddingEnd: 12,
  });
  const items = rows.getVirtualItems();
  const seen = items.map(({ index }) => places.get(files[index]?.path ?? "") ?? 0);
  const { texts, isReading } = useDiffText(worktree, seen, diff.files.length);
  const folds = useFolds(session, files, texts);
  const offset = rows.scrollOffset ?? 0;
  const top = items.find((item) => item.end > offset + HEADING_PIXELS);
  // What was picked stays in view while the text above it is still arriving, until the reader moves.
  const picked = useRef<string>(undefined);
  const moveTo = (path: string) => rows.scrollToIndex(files.findIndex((file) => file.path === path), { align: "start" });
  const pick = (path: string) => {
    folds.fold(path, false);
    picked.current = path;
    moveTo(path);
  };
  useEffect(() => {
    if (picked.current !== undefined) moveTo(picked.current);
  }, [texts]);
  const leave = () => (picked.current = undefined);
  return (
    <div className={`flex min-h-0 flex-1 ${tree === "beside" ? "" : "flex-col"}`}>
      {tree && (
        <DiffTree
          files={files}
          current={files[top?.index ?? 0]?.path}
          isBeside={tree === "beside"}
          isViewed={(path) => folds.viewed.has(path)}
          commentsOn={(path) => remarks.of(path).length}
          onPick={pick}
        />
      )}
      <div
        ref={scroller}
        role="region"
        aria-label="Changes"
        tabIndex={0}
        onWheel={leave}
        onPointerDown={leave}
        onKeyDown={leave}
        className="min-h-0 min-w-0 flex-1 overflow-y-auto px-3 -outline-offset-2 [overflow-anchor:none]"
      >
        <div className="relative" style={{ height: rows.getTotalSize() }}>
          {items.map((item) => {
            const named = files[item.index];
            const file = named && (texts.get(named.path) ?? named);
            return (
              file && (
                <div key={item.key} data-index={item.index} ref={rows.measureElement} className="absolute right-0 left-0" style={{ top: item.start }}>
                  <FileDiff
                    file={file}
                    isRead={texts.has(file.path) || !isReading}
                    isFolded={folds.isFolded(file)}
                    isViewed={folds.viewed.has(file.path)}
                    onFold={folds.fold}
                    onView={folds.view}
                    {...{ layout, remarks }}
                  />
                </div>
              )
            );
          })}
        </div>
        {diff.files_left > 0 && <p className="pb-3 text-muted">{counted(diff.files_left, "more file")} changed; `wheelhouse diff` shows them all.</p>}
      </div>
    </div>
  );
}

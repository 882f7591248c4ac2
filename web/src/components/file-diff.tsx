import { MessageSquarePlus, Trash2 } from "lucide-react";
import { useState } from "react";

import type { FileChange } from "@/api/client";
import { Badge } from "@/ui/badge";
import { Button } from "@/ui/button";
import { placeOf, type LineComment } from "@/util/comments";
import { hunksOf, sideBySide, type PatchLine } from "@/util/patch";
import { plain, plainLines } from "@/util/text";

import { Name } from "./name";

export type Layout = "unified" | "split";

interface Props {
  file: FileChange;
  layout: Layout;
  comments: LineComment[];
  onAdd: (comment: LineComment) => void;
  onRemove: (id: string) => void;
}

/** One changed file. Its lines can be commented on. */
export function FileDiff({ file, layout, comments, onAdd, onRemove }: Props) {
  const hunks = file.patch ? hunksOf(file.patch) : [];
  return (
    <details open className="mb-3 overflow-hidden rounded-md border border-line bg-panel [content-visibility:auto] [contain-intrinsic-size:auto_200px]">
      <summary className="flex cursor-pointer items-center gap-2 bg-sunken px-3 py-1.5 text-sm">
        <Name className="min-w-0 flex-1 font-mono break-all">{file.path}</Name>
        <Badge>{file.change}</Badge>
        {file.added !== undefined && <span className="text-good">+{file.added}</span>}
        {file.deleted !== undefined && <span className="text-danger">−{file.deleted}</span>}
      </summary>
      {hunks.length === 0 && <p className="p-3 text-muted">No text to show.</p>}
      {hunks.map((hunk, index) => (
        <div key={index} className="border-t border-line">
          <p className="bg-sunken px-2 font-mono text-xs text-muted">{plain(hunk.heading)}</p>
          <Lines lines={hunk.lines} {...{ file, layout, comments, onAdd, onRemove }} />
        </div>
      ))}
      {file.cut && <p className="border-t border-line p-2 text-sm text-muted">Only the beginning is shown.</p>}
    </details>
  );
}

function Lines({ lines, layout, ...rest }: Props & { lines: PatchLine[] }) {
  const [open, setOpen] = useState<PatchLine>();
  const line = (shown: PatchLine) => (
    <Line line={shown} path={rest.file.path} onComment={() => setOpen(open === shown ? undefined : shown)} />
  );
  const below = (shown: PatchLine) => (
    <Below line={shown} isOpen={open === shown} onClose={() => setOpen(undefined)} {...rest} />
  );
  if (layout === "unified") {
    return (
      <div className="overflow-x-auto font-mono text-xs">
        {lines.map((shown, index) => (
          <div key={index}>
            {line(shown)}
            {below(shown)}
          </div>
        ))}
      </div>
    );
  }
  return (
    <div className="font-mono text-xs">
      {sideBySide(lines).map(([before, after], index) => (
        <div key={index}>
          <div className="grid grid-cols-2 divide-x divide-line">
            <div className="min-w-0 overflow-hidden">{before && line(before)}</div>
            <div className="min-w-0 overflow-hidden">{after && line(after)}</div>
          </div>
          {before && below(before)}
          {after && after !== before && below(after)}
        </div>
      ))}
    </div>
  );
}

const LOOKS = { added: "bg-added", deleted: "bg-deleted", context: "", note: "text-muted italic" };
const SIGNS = { added: "+", deleted: "-", context: " ", note: "" };

function Line({ line, path, onComment }: { line: PatchLine; path: string; onComment: () => void }) {
  const number = line.new ?? line.old;
  const which = line.new === undefined ? "old line" : "line";
  return (
    <div className={`group flex items-start ${LOOKS[line.kind]}`}>
      {number === undefined ? (
        <span className="w-12 shrink-0" />
      ) : (
        <button
          type="button"
          aria-label={`Comment on ${which} ${number} of ${plain(path)}`}
          className="flex w-12 shrink-0 items-center justify-end gap-1 pr-1.5 text-muted hover:text-accent"
          onClick={onComment}
        >
          <MessageSquarePlus size={12} aria-hidden="true" className="opacity-0 group-focus-within:opacity-100 group-hover:opacity-100" />
          {number}
        </button>
      )}
      <span className="w-3 shrink-0 select-none">{SIGNS[line.kind]}</span>
      <span className="min-w-0 break-all whitespace-pre-wrap">{plainLines(line.text) || " "}</span>
    </div>
  );
}

interface BelowProps extends Omit<Props, "layout"> {
  line: PatchLine;
  isOpen: boolean;
  onClose: () => void;
}

/** The comments on a line, and where one is written. */
function Below({ line, isOpen, onClose, file, comments, onAdd, onRemove }: BelowProps) {
  const place = placeOf(line);
  if (!place) {
    return null;
  }
  const own = comments.filter((comment) => comment.side === place.side && comment.line === place.line);
  return (
    <>
      {own.map((comment) => (
        <div key={comment.id} className="flex items-start gap-2 border-y border-line bg-warn-soft px-3 py-1.5 font-sans text-sm">
          <p className="min-w-0 flex-1 break-words whitespace-pre-wrap">{comment.text}</p>
          <Button look="quiet" className="min-h-0 p-1" aria-label="Remove the comment" onClick={() => onRemove(comment.id)}>
            <Trash2 size={13} aria-hidden="true" />
          </Button>
        </div>
      ))}
      {isOpen && (
        <CommentForm
          label={`Comment on ${plain(file.path)}, line ${place.line}`}
          onClose={onClose}
          onAdd={(text) => {
            onAdd({ id: `${file.path}:${place.side}:${place.line}:${Date.now()}`, path: file.path, ...place, text });
            onClose();
          }}
        />
      )}
    </>
  );
}

function CommentForm({ label, onAdd, onClose }: { label: string; onAdd: (text: string) => void; onClose: () => void }) {
  const [text, setText] = useState("");
  return (
    <form
      className="border-y border-line bg-raised p-2 font-sans text-sm"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim()) onAdd(text.trim());
      }}
    >
      <textarea
        autoFocus
        aria-label={label}
        rows={2}
        className="field resize-none"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => event.key === "Escape" && onClose()}
      />
      <div className="mt-1 flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" disabled={text.trim() === ""}>
          Add comment
        </Button>
      </div>
    </form>
  );
}

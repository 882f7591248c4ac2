import { ChevronRight, MessageSquarePlus, Trash2 } from "lucide-react";
import { memo, useMemo, useState } from "react";

import type { FileChange } from "@/api/client";
import { lineKey, type Remarks } from "@/hooks/use-remarks";
import { Badge } from "@/ui/badge";
import { Button } from "@/ui/button";
import { placeOf, type LineComment } from "@/util/comments";
import { hunksOf, sideBySide, type Hunk, type PatchLine } from "@/util/patch";
import { plain, plainLines } from "@/util/text";

import { Name } from "./name";

export type Layout = "unified" | "split";

interface Props {
  file: FileChange;
  /** Whether its text is there. */
  isRead: boolean;
  isFolded: boolean;
  isViewed: boolean;
  layout: Layout;
  remarks: Remarks;
  onFold: (path: string, isFolded: boolean) => void;
  onView: (file: FileChange, isViewed: boolean) => void;
}

/** One changed file. Its lines can be commented on. */
export const FileDiff = memo(function FileDiff({ file, isFolded, ...rest }: Props) {
  return (
    <div role="group" aria-label={plain(file.path)} className="overflow-clip rounded-md border border-line bg-panel">
      <Heading file={file} isFolded={isFolded} {...rest} />
      {!isFolded && <Body file={file} {...rest} />}
    </div>
  );
});

function Heading({ file, isFolded, isViewed, onFold, onView }: Omit<Props, "isRead" | "layout" | "remarks">) {
  return (
    <div className="sticky top-0 z-10 flex flex-wrap items-center gap-x-2 border-b border-line bg-sunken px-2 py-1 text-sm">
      <button
        type="button"
        aria-expanded={!isFolded}
        className="flex min-h-7 min-w-40 flex-1 items-center gap-1.5 rounded text-left"
        onClick={() => onFold(file.path, !isFolded)}
      >
        <ChevronRight size={14} aria-hidden="true" className={`shrink-0 text-muted ${isFolded ? "" : "rotate-90"}`} />
        <span className="min-w-0 font-mono break-all">
          {file.old_path && (
            <span className="text-muted">
              <Name>{file.old_path}</Name> →{" "}
            </span>
          )}
          <Name>{file.path}</Name>
        </span>
      </button>
      <span className="max-sm:hidden">
        <Badge>{file.change.replace("_", " ")}</Badge>
      </span>
      {file.kind !== "file" && <Badge>{file.kind}</Badge>}
      {typeof file.added === "number" && <span className="text-good">+{file.added}</span>}
      {typeof file.deleted === "number" && <span className="text-danger">−{file.deleted}</span>}
      <label className="flex min-h-7 cursor-pointer items-center gap-1 text-muted">
        <input
          type="checkbox"
          aria-label={`Viewed ${plain(file.path)}`}
          checked={isViewed}
          onChange={(event) => onView(file, event.target.checked)}
        />
        Viewed
      </label>
    </div>
  );
}

function Body({ file, isRead, layout, remarks }: Pick<Props, "file" | "isRead" | "layout" | "remarks">) {
  const hunks = useMemo(() => (file.patch ? hunksOf(file.patch) : []), [file.patch]);
  if (!isRead) {
    return (
      <p role="status" className="p-3 text-muted">
        Loading…
      </p>
    );
  }
  const lost = remarks.of(file.path).filter((comment) => !isShown(comment, hunks));
  return (
    <>
      {lost.map((comment) => (
        <Comment key={comment.id} comment={comment} about={`on line ${comment.line}, which is not shown any more`} onRemove={remarks.remove} />
      ))}
      {hunks.length === 0 && <p className="p-3 text-muted">No text to show.</p>}
      {hunks.map((hunk, index) => (
        <div key={index} className={index > 0 ? "border-t border-line" : ""}>
          <p className="bg-sunken px-2 font-mono text-xs text-muted">{plain(hunk.heading)}</p>
          <Lines lines={hunk.lines} {...{ file, layout, remarks }} />
        </div>
      ))}
      {file.cut && <p className="border-t border-line p-2 text-sm text-muted">Only the beginning is shown.</p>}
    </>
  );
}

/** Tells whether the line of a comment is still in the diff. */
function isShown(comment: LineComment, hunks: Hunk[]): boolean {
  const isIt = (line: PatchLine) => {
    const place = placeOf(line);
    return place?.side === comment.side && place.line === comment.line;
  };
  return hunks.some((hunk) => hunk.lines.some(isIt));
}

interface LinesProps extends Pick<Props, "file" | "layout" | "remarks"> {
  lines: PatchLine[];
}

function Lines({ lines, layout, file, remarks }: LinesProps) {
  const line = (shown: PatchLine) => <Line line={shown} path={file.path} remarks={remarks} />;
  const below = (shown: PatchLine) => <Below line={shown} file={file} remarks={remarks} />;
  if (layout === "unified") {
    return (
      <div className="overflow-x-auto font-mono text-xs leading-6">
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
    <div className="font-mono text-xs leading-6">
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

function Line({ line, path, remarks }: { line: PatchLine; path: string; remarks: Remarks }) {
  const number = line.new ?? line.old;
  const which = line.new === undefined ? "old line" : "line";
  const place = placeOf(line);
  const toggle = () => {
    if (place) {
      const key = lineKey(path, place);
      remarks.write(key, remarks.drafts[key] === undefined ? "" : undefined);
    }
  };
  return (
    <div className={`group flex items-start ${LOOKS[line.kind]}`}>
      {number === undefined ? (
        <span className="w-12 shrink-0" />
      ) : (
        <button
          type="button"
          aria-label={`Comment on ${which} ${number} of ${plain(path)}`}
          className="flex w-12 shrink-0 items-center justify-end gap-1 pr-1.5 text-muted hover:text-accent"
          onClick={toggle}
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

/** The comments on a line, and where one is written. */
function Below({ line, file, remarks }: { line: PatchLine; file: FileChange; remarks: Remarks }) {
  const place = placeOf(line);
  if (!place) {
    return null;
  }
  const key = lineKey(file.path, place);
  const draft = remarks.drafts[key];
  const own = remarks.of(file.path).filter((comment) => comment.side === place.side && comment.line === place.line);
  return (
    <>
      {own.map((comment) => (
        <Comment key={comment.id} comment={comment} onRemove={remarks.remove} />
      ))}
      {draft !== undefined && (
        <CommentForm
          label={`Comment on ${plain(file.path)}, line ${place.line}`}
          text={draft}
          onChange={(text) => remarks.write(key, text)}
          onClose={() => remarks.write(key, undefined)}
          onAdd={(text) => remarks.add({ id: `${key}:${Date.now()}`, path: file.path, ...place, text })}
        />
      )}
    </>
  );
}

function Comment({ comment, about, onRemove }: { comment: LineComment; about?: string; onRemove: (id: string) => void }) {
  return (
    <div className="flex items-start gap-2 border-y border-line bg-warn-soft px-3 py-1.5 font-sans text-sm">
      <p className="min-w-0 flex-1 break-words whitespace-pre-wrap">
        {about && <span className="block text-xs text-muted">{about}</span>}
        {comment.text}
      </p>
      <Button look="quiet" className="min-h-0 p-1" aria-label="Remove the comment" onClick={() => onRemove(comment.id)}>
        <Trash2 size={13} aria-hidden="true" />
      </Button>
    </div>
  );
}

interface FormProps {
  label: string;
  text: string;
  onChange: (text: string) => void;
  onAdd: (text: string) => void;
  onClose: () => void;
}

function CommentForm({ label, text, onChange, onAdd, onClose }: FormProps) {
  const [wasEmpty] = useState(text === "");
  return (
    <form
      className="border-y border-line bg-raised p-2 font-sans text-sm"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim()) onAdd(text.trim());
      }}
    >
      <textarea
        // One that was begun before comes back by scrolling, and must not take the focus from where it is.
        autoFocus={wasEmpty}
        aria-label={label}
        rows={2}
        className="field resize-none"
        value={text}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") onClose();
          else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
        }}
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

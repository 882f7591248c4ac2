import { ChevronRight } from "lucide-react";

import { StateBadge } from "@/components/state-badge";
import { Disclosure } from "@/ui/disclosure";
import { plain, plainLines } from "@/util/text";

import { AnsiText } from "./ansi-text";
import { Name } from "./name";
import { SettledBadge, SettledReason, useSettled } from "./settled";

/** A tool call as the server stores it. Everything in it was chosen by an agent, so every part is checked when it is read. */
export interface Call {
  id: string;
  title: string;
  kind: string;
  status: string;
  input?: unknown;
  content: Content[];
  paths: string[];
}

type Content = { type: "text"; text: string } | { type: "diff"; path: string; old?: string; new: string };

type Fields = Record<string, unknown>;

const fieldsOf = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {});
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

export function callOf(detail: unknown): Call {
  const call = fieldsOf(detail);
  const content = listOf(call.content).flatMap((part): Content[] => {
    const fields = fieldsOf(part);
    switch (fields.type) {
      case "text":
        return [{ type: "text", text: textOf(fields.text) }];
      case "diff": {
        const old = typeof fields.old === "string" ? { old: fields.old } : {};
        return [{ type: "diff", path: textOf(fields.path), new: textOf(fields.new), ...old }];
      }
      default:
        return [];
    }
  });
  return {
    id: textOf(call.id),
    title: textOf(call.title),
    kind: textOf(call.kind),
    status: textOf(call.status),
    input: call.input,
    content,
    paths: listOf(call.locations).map((place) => textOf(fieldsOf(place).path)),
  };
}

const WORDS: Record<string, string> = { in_progress: "running", completed: "done", pending: "queued" };

/** A tool the agent used: a line, which opens. */
export function ToolCall({ title, detail }: { title: string; detail: unknown }) {
  const call = callOf(detail);
  const settled = useSettled(call.id);
  const state = WORDS[call.status] ?? call.status;
  // What was allowed shows by going on; and a call that was refused fails, of course.
  const answer = settled?.state === "allowed" ? undefined : settled;
  return (
    <Disclosure
      className="group rounded-md border border-line bg-panel"
      summaryClassName="flex cursor-pointer list-none items-center gap-2 px-3 py-1.5 hover:bg-sunken"
      summary={
        <>
          <ChevronRight size={14} aria-hidden="true" className="shrink-0 text-muted group-open:rotate-90" />
          <span className="text-xs text-muted">{plain(call.kind || "tool")}</span>
          <Name className="min-w-0 flex-1 truncate font-mono text-sm">{title}</Name>
          {answer ? <SettledBadge approval={answer} /> : state !== "done" && <StateBadge state={plain(state)} />}
        </>
      }
    >
      <div className="flex flex-col gap-2 border-t border-line p-3">
        {settled && <SettledReason approval={settled} />}
        <CallBody call={call} />
      </div>
    </Disclosure>
  );
}

/** All that is known of a call: exactly what is asked for, or was done. */
export function CallBody({ call }: { call: Call }) {
  const hasInput = call.input !== undefined && call.input !== null;
  if (!hasInput && call.content.length === 0 && call.paths.length === 0) {
    return <p className="text-muted">The agent told nothing more about it.</p>;
  }
  return (
    <div className="flex flex-col gap-2">
      {call.paths.length > 0 && (
        <p className="text-sm text-muted">
          {call.paths.map((path, index) => (
            <Name key={index} className="mr-2 font-mono break-all">
              {path}
            </Name>
          ))}
        </p>
      )}
      {hasInput && <Block label="Input">{plainLines(JSON.stringify(call.input, null, 2))}</Block>}
      {call.content.map((content, index) =>
        content.type === "text" ? (
          <Block key={index} label="Output">
            <AnsiText>{content.text}</AnsiText>
          </Block>
        ) : (
          <Change key={index} path={content.path} before={content.old} after={content.new} />
        ),
      )}
    </div>
  );
}

function Block({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <pre
      aria-label={label}
      tabIndex={0}
      className="max-h-80 overflow-auto rounded bg-sunken p-2 font-mono text-xs break-words whitespace-pre-wrap"
    >
      {children}
    </pre>
  );
}

/** The most lines of each side that are shown here; the diff of the worktree shows all. */
const LINES_MAX = 200;

function Change({ path, before, after }: { path: string; before?: string | undefined; after: string }) {
  const lines = (text: string) => text.replace(/\n$/, "").split("\n").slice(0, LINES_MAX);
  const rows = [
    ...(before === undefined ? [] : lines(before).map((text) => ["-", text] as const)),
    ...lines(after).map((text) => ["+", text] as const),
  ];
  return (
    <div className="overflow-hidden rounded border border-line">
      <p className="bg-sunken px-2 py-1 font-mono text-xs break-all text-muted">
        <Name>{path}</Name>
      </p>
      <pre tabIndex={0} aria-label="Change" className="max-h-80 overflow-auto font-mono text-xs">
        {rows.map(([sign, text], index) => (
          <div key={index} className={sign === "+" ? "bg-added" : "bg-deleted"}>
            <span className="px-2 select-none">{sign}</span>
            {plainLines(text)}
          </div>
        ))}
      </pre>
    </div>
  );
}

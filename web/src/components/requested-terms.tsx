import { useState } from "react";

import type { Session } from "@/api/client";
import { BUDGET_FIELDS, limitWords } from "@/util/budget";
import { plain } from "@/util/text";
import { narrowedWords, readTerms } from "@/util/terms";

import { Name } from "./name";

interface Props {
  id: string;
  session: Session;
  /** What the agent says it works in. */
  mode: string | undefined;
  /** The path of the worktree that it has. */
  worktree: string | undefined;
}

/** What was requested when the session was created in this tab, beside what applies. */
export function RequestedTerms({ id, session, mode, worktree }: Props) {
  const [terms] = useState(() => readTerms(id));
  if (!terms || terms.requested.length === 0) {
    return null;
  }
  const applied = appliedTo(session, mode, worktree);
  return (
    <section aria-label="Requested and applied" className="mt-4">
      <h2 className="text-sm font-semibold">Requested and applied</h2>
      <table className="mt-1 w-full text-left text-sm">
        <thead className="text-muted">
          <tr>
            {["Setting", "Requested", "Applied"].map((title) => (
              <th key={title} scope="col" className="py-1 pr-3 font-medium">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {terms.requested.map(([setting, requested]) => (
            <tr key={setting} className="border-t border-line">
              <th scope="row" className="py-1 pr-3 font-normal text-muted">
                {setting}
              </th>
              <td className="py-1 pr-3 break-words">
                <Name>{requested}</Name>
              </td>
              <td className="py-1 break-words">
                <Name>{applied[setting] ?? "—"}</Name>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** What applies now, by the names under which it was requested. */
function appliedTo(session: Session, mode: string | undefined, worktree: string | undefined): Record<string, string | undefined> {
  const budget = BUDGET_FIELDS.map(({ limit, title }) => [title, limitWords(`budget.${limit}`, session.budget[limit])] as const);
  return {
    ...Object.fromEntries(budget),
    Model: session.runs > 0 ? (session.model ?? "the agent has not said") : "not started yet",
    Mode: mode ?? (session.runs > 0 ? "the agent has not said" : "not started yet"),
    "Other actions": session.policy.default ?? "ask",
    Tools: session.mcp_dialect ?? "wheelhouse",
    Workspace: worktree ?? session.path ?? (session.worktree_id ? "a worktree" : "an empty directory"),
  };
}

/** Says above the conversation what is narrower than was requested. */
export function NarrowedNotice({ id }: { id: string }) {
  const [narrowed] = useState(() => narrowedWords(readTerms(id)?.narrowed ?? []));
  const [isOpen, setOpen] = useState(true);
  if (narrowed.length === 0 || !isOpen) {
    return null;
  }
  return (
    <div role="status" className="flex items-start justify-between gap-3 bg-warn-soft px-4 py-2 text-sm text-warn">
      <div>
        <p className="font-medium">Not everything applies as it was requested:</p>
        <ul className="list-disc pl-5">
          {narrowed.map((words) => (
            <li key={words}>{plain(words)}</li>
          ))}
        </ul>
      </div>
      <button type="button" className="underline" onClick={() => setOpen(false)}>
        Dismiss
      </button>
    </div>
  );
}

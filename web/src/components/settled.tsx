import { createContext, useContext, useMemo, type ReactNode } from "react";

import type { Approval } from "@/api/client";
import { approvalsOf } from "@/api/queries";
import { useAllPages } from "@/hooks/use-all-pages";
import { Badge, type Tone } from "@/ui/badge";
import { plain } from "@/util/text";

import { Who } from "./who";

/** What a session was asked leave for, by the call it was about. */
const Settled = createContext<ReadonlyMap<string, Approval>>(new Map());

const callOf = (approval: Approval): string | undefined => {
  const id = (approval.detail as { call?: { id?: unknown } } | undefined)?.call?.id;
  return typeof id === "string" ? id : undefined;
};

interface SettledApprovalsProps {
  session: string;
  /** Whether to ask at all: guests are not told. */
  isAsked: boolean;
  children: ReactNode;
}

/** Lets the calls of a conversation say what came of asking. */
export function SettledApprovals({ session, isAsked, children }: SettledApprovalsProps) {
  const approvals = useAllPages({ ...approvalsOf(session), enabled: isAsked }).data?.rows;
  const byCall = useMemo(() => {
    const found = new Map<string, Approval>();
    for (const approval of approvals ?? []) {
      const call = callOf(approval);
      // The latest comes first: an id may have been used by an earlier process.
      if (call && !found.has(call)) found.set(call, approval);
    }
    return found;
  }, [approvals]);
  return <Settled value={byCall}>{children}</Settled>;
}

/** What came of asking for this call, if anybody was asked. */
export function useSettled(call: string): Approval | undefined {
  return useContext(Settled).get(call);
}

const WORDS: Record<string, [string, Tone]> = {
  pending: ["waits for an answer", "warn"],
  allowed: ["allowed", "good"],
  denied: ["denied", "danger"],
  timed_out: ["nobody answered", "warn"],
  withdrawn: ["withdrawn", "neutral"],
};

export function SettledBadge({ approval }: { approval: Approval }) {
  const [words, tone] = WORDS[approval.state] ?? [approval.state, "neutral"];
  return <Badge tone={tone}>{words}</Badge>;
}

/** By whom and why: a person's words, or that it was a rule. */
export function SettledReason({ approval }: { approval: Approval }) {
  const { answer, answered_by: name, answered_by_session_id: session } = approval;
  return answer || name ? (
    <p className="text-sm">
      <SettledBadge approval={approval} />{" "}
      {name && (
        <>
          by <Who name={name} session={session} />
        </>
      )}
      {name && answer && ": "}
      {answer && <span className="break-words">{plain(answer)}</span>}
    </p>
  ) : null;
}

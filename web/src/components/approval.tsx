import { useMutation } from "@tanstack/react-query";
import { useId, useState } from "react";

import { api, ask, mark, type Approval } from "@/api/client";
import { shortId } from "@/api/queries";
import { useNow } from "@/hooks/use-now";
import { Badge } from "@/ui/badge";
import { Button } from "@/ui/button";
import { toastError } from "@/ui/toast";
import { since, until } from "@/util/text";

import { Name } from "./name";
import { CallBody, callOf } from "./tool-call";
import { SessionLink } from "./who";

const TITLES: Record<string, string> = {
  permission: "The agent asks for permission",
  question: "The agent has a question",
  plan: "The agent asks to go on with its plan",
};

interface Answer {
  decision: "allow" | "deny";
  always?: boolean;
  text?: string;
}

/** Something only a person may settle, with exactly what is asked and the ways to answer. */
export function ApprovalCard({ approval, withSession = false }: { approval: Approval; withSession?: boolean }) {
  const answer = useMutation({
    mutationFn: (given: Answer) =>
      ask(
        api.POST("/api/v1/approvals/{approval}", {
          params: { path: { approval: approval.id }, header: mark() },
          body: given,
        }),
      ),
    onError: toastError,
  });
  const detail = approval.detail as { call?: unknown; options?: { kind?: string }[] } | undefined;
  const heading = useId();
  // Answered, and not yet heard of from the feed.
  const isDone = answer.isPending || answer.isSuccess;
  return (
    <section aria-labelledby={heading} className="rounded-lg border border-warn bg-panel p-3">
      <div className="flex flex-wrap items-center gap-2">
        <p id={heading} className="text-sm font-medium text-warn">
          {TITLES[approval.kind] ?? "The agent waits for an answer"}
        </p>
        {withSession && <SessionLink id={shortId(approval.session)} />}
        {detail?.call !== undefined && <Badge>{callOf(detail.call).kind}</Badge>}
        <Deadline approval={approval} />
      </div>
      <p className="mt-1 font-mono text-sm break-words whitespace-pre-wrap">
        <Name>{approval.text}</Name>
      </p>
      {detail?.call !== undefined && (
        <div className="mt-2">
          <CallBody call={callOf(detail.call)} />
        </div>
      )}
      <div className="mt-3">
        {approval.kind === "question" ? (
          <QuestionAnswer isDone={isDone} onAnswer={answer.mutate} />
        ) : (
          <PermissionAnswer
            isDone={isDone}
            offersAlways={detail?.options?.some((option) => option.kind === "allow_always") ?? false}
            onAnswer={answer.mutate}
          />
        )}
      </div>
    </section>
  );
}

/** How long it has waited, and when silence becomes a refusal. */
function Deadline({ approval }: { approval: Approval }) {
  const now = useNow();
  return (
    <span className="ml-auto text-xs text-muted">
      {since(approval.created_at, now)}
      {approval.expires_at && ` · expires ${until(approval.expires_at, now)}`}
    </span>
  );
}

interface AnswerProps {
  isDone: boolean;
  onAnswer: (answer: Answer) => void;
}

function PermissionAnswer({ isDone, offersAlways, onAnswer }: AnswerProps & { offersAlways: boolean }) {
  const [isDenying, setDenying] = useState(false);
  const [reason, setReason] = useState("");
  const text = reason.trim();
  if (isDenying) {
    return (
      <form
        className="flex flex-wrap items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          onAnswer({ decision: "deny", ...(text && { text }) });
        }}
      >
        <label className="min-w-48 flex-1">
          <span className="text-sm text-muted">Reason (optional)</span>
          <input autoFocus className="field" value={reason} onChange={(event) => setReason(event.target.value)} />
        </label>
        <Button type="submit" look="danger" disabled={isDone}>
          Deny
        </Button>
        <Button onClick={() => setDenying(false)}>Back</Button>
      </form>
    );
  }
  return (
    <div className="flex flex-wrap gap-2">
      <Button look="primary" disabled={isDone} onClick={() => onAnswer({ decision: "allow" })}>
        Allow once
      </Button>
      <Button
        disabled={isDone}
        refused={offersAlways ? undefined : "This agent does not offer it."}
        onClick={() => onAnswer({ decision: "allow", always: true })}
      >
        Always allow
      </Button>
      <Button disabled={isDone} onClick={() => setDenying(true)}>
        Deny…
      </Button>
    </div>
  );
}

function QuestionAnswer({ isDone, onAnswer }: AnswerProps) {
  const [text, setText] = useState("");
  return (
    <form
      className="flex flex-wrap items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        onAnswer({ decision: "allow", text: text.trim() });
      }}
    >
      <label className="min-w-48 flex-1">
        <span className="text-sm text-muted">Your answer</span>
        <input className="field" value={text} onChange={(event) => setText(event.target.value)} />
      </label>
      <Button type="submit" look="primary" disabled={isDone || text.trim() === ""}>
        Answer
      </Button>
      <Button disabled={isDone} onClick={() => onAnswer({ decision: "deny" })}>
        Decline
      </Button>
    </form>
  );
}

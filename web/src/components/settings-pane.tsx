import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { Schemas, Session } from "@/api/client";
import { runList, worktreeAbout } from "@/api/queries";
import { useSessionUpdate } from "@/hooks/use-session-update";
import { Button } from "@/ui/button";
import { cost, counted, dollars, plain } from "@/util/text";

import { BudgetForm } from "./budget-form";
import { LeadRole } from "./lead-role";
import { ModelForm } from "./model-form";
import { RequestedTerms } from "./requested-terms";

/** What really applies to this session, and its name, which can be changed. */
export function SettingsPane({ id, session }: { id: string; session: Session }) {
  const worktree = useQuery(worktreeAbout(session.worktree_id)).data;
  const mode = useInfiniteQuery(runList(id)).data?.pages[0]?.runs[0]?.mode ?? undefined;
  const rows: [string, string | undefined][] = [
    ["Agent", session.agent],
    ["Role", session.role],
    ["Model", modelWords(session)],
    ["Mode", modeWords(session, mode)],
    ["Works in", worktree?.path ?? session.path ?? (session.worktree_id ? `worktree ${session.worktree_id.slice(-8)}` : "an empty directory")],
    ["Branch", worktree?.branch],
    ["Containment", session.effective_tier ?? `${session.tier}, once it is started`],
    ["Hosts it may connect to", session.hosts ? session.hosts.join(", ") || "none" : undefined],
    ["Budget", budgetWords(session.budget)],
    ["Used so far", usedWords(session)],
    ["Without asking it may", rulesWords(session.policy.allow) ?? "nothing"],
    ["It may never", rulesWords(session.policy.deny) ?? "nothing is forbidden outright"],
    ["Anything else", { allow: "is allowed", deny: "is denied" }[session.policy.default ?? "ask"] ?? "is asked for"],
    ["Who is asked", session.policy.route === "parent" ? "its parent session" : "a person"],
    ["Silence is a refusal after", session.policy.timeout_seconds ? `${session.policy.timeout_seconds} s` : undefined],
    ["Commands of its agent", session.commands?.map(({ name }) => `/${name}`).join(" ") || undefined],
    ["Tools of its agent", session.mcp_dialect ?? "wheelhouse"],
    ["Its Wheelhouse tools are", session.tools_link ?? undefined],
    ["Started", session.runs === 1 ? "once" : `${session.runs} times`],
    ["Id", session.id],
  ];
  return (
    <div className="h-full overflow-y-auto p-3">
      <Rename key={session.title} id={id} session={session} />
      <LeadRole id={id} session={session} />
      <RequestedTerms id={id} session={session} mode={mode} worktree={worktree?.path} />
      <ModelForm key={`${session.model_requested ?? ""} ${session.model ?? ""}`} id={id} session={session} />
      <BudgetForm key={JSON.stringify(session.budget)} id={id} session={session} />
      <dl className="mt-4 grid grid-cols-[auto_1fr] gap-x-4 gap-y-1.5">
        {rows.map(
          ([name, value]) =>
            value && (
              <div key={name} className="contents">
                <dt className="text-muted">{name}</dt>
                <dd className="min-w-0 break-words">{plain(value)}</dd>
              </div>
            ),
        )}
      </dl>
    </div>
  );
}

/** The model that the agent says it uses, and the one that was requested if that is another. */
function modelWords({ model, model_requested, runs }: Session): string {
  if (!model) {
    return "the agent has not said";
  }
  if (runs === 0) {
    return `${model}, once it is started`;
  }
  return model_requested && model_requested.toLowerCase() !== model.toLowerCase() ? `${model} (requested: ${model_requested})` : model;
}

/** What the agent said it works in; what was asked for is no more than that. */
function modeWords(session: Session, mode: string | undefined): string {
  if (mode || !session.mode) {
    return mode ?? "the agent's usual one";
  }
  return session.runs ? `${session.mode} was asked for; the agent has not said that it took it` : `${session.mode}, once it is started`;
}

function Rename({ id, session }: { id: string; session: Session }) {
  const [title, setTitle] = useState(session.title);
  const rename = useSessionUpdate(id, "The session is renamed");
  return (
    <form
      className="flex items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        rename.mutate({ title: title.trim() });
      }}
    >
      <label className="min-w-0 flex-1">
        <span className="text-sm text-muted">Title</span>
        <input className="field" value={title} onChange={(event) => setTitle(event.target.value)} />
      </label>
      <Button type="submit" disabled={rename.isPending || title.trim() === "" || title === session.title}>
        Rename
      </Button>
    </form>
  );
}

function budgetWords(budget: Schemas["BudgetInput"]): string {
  const parts = [
    budget.tokens != null && `${budget.tokens} tokens`,
    budget.cost_micros != null && dollars(budget.cost_micros),
    budget.wall_seconds != null && `${budget.wall_seconds} s at work`,
    budget.turns != null && `${budget.turns} turns`,
  ];
  return parts.filter(Boolean).join(", ") || "not limited";
}

const usedWords = (session: Session): string =>
  counted(session.tokens_used, "token") +
  (session.cost_micros > 0 ? `, ${cost(session)}` : "") +
  (session.estimated_micros ? " (estimated from tokens and list prices)" : "");

function rulesWords(rules: Schemas["PolicyRuleInput"][] | undefined): string | undefined {
  const words = rules?.map(({ kinds = [], paths = [] }) => {
    const what = kinds.length > 0 ? kinds.join(", ") : "anything";
    return paths.length > 0 ? `${what} in ${paths.join(", ")}` : what;
  });
  return words && words.length > 0 ? words.join("; ") : undefined;
}

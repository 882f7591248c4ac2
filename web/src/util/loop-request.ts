import type { Schemas } from "@/api/client";

import { budgetChanges, type BudgetFields } from "./budget";

/** A loop as the form holds it: everything as it was typed. */
export interface LoopDraft {
  spec: string;
  /** One on each line. */
  tasks: string;
  inOrder: boolean;
  allowAll: boolean;
  iterations: string;
  tokens: string;
  dollars: string;
  minutes: string;
  branch: string;
  template: string;
}

export const EMPTY_LOOP: LoopDraft = {
  spec: "",
  tasks: "",
  inOrder: false,
  allowAll: false,
  iterations: "20",
  tokens: "",
  dollars: "",
  minutes: "",
  branch: "",
  template: "",
};

/** Says what the server is to be asked for. What was left empty is not limited, or the server's choice. */
export function loopRequest(draft: LoopDraft, agent: string, repo: string): Schemas["LoopStartRequest"] {
  const lines = draft.tasks.split("\n").filter((line) => line.trim() !== "");
  const tasks = lines.map((line, index) => ({
    content: line.trim(),
    // The first task of a call is +1.
    ...(draft.inOrder && index > 0 && { depends_on: [`+${index}`] }),
  }));
  const amount = (typed: string, times = 1) => (typed.trim() === "" ? undefined : Math.round(Number(typed) * times));
  const budget = {
    tokens: amount(draft.tokens),
    cost_micros: amount(draft.dollars, 1e6),
    wall_seconds: amount(draft.minutes, 60),
  };
  const isLimited = Object.values(budget).some((limit) => limit !== undefined);
  return {
    spec: draft.spec,
    agent,
    repo,
    tasks,
    iterations_max: amount(draft.iterations),
    ...(isLimited && { budget }),
    ...(draft.allowAll && { policy: { default: "allow" } }),
    ...(draft.branch.trim() && { branch: draft.branch.trim() }),
    ...(draft.template.trim() && { template: draft.template }),
  };
}

type Limits = Pick<Schemas["LoopView"], "budget" | "iterations_max">;

interface LimitChanges {
  /** A limit that is null is removed. */
  budget?: Record<string, number | null>;
  iterations_max?: number;
}

/** Returns the request that resumes a loop with the limits of a form: only those that differ. */
export function resumeRequest(loop: Limits, fields: BudgetFields, iterations: string): LimitChanges {
  const budget = budgetChanges(loop.budget, fields);
  const max = Number(iterations);
  return {
    ...(Object.keys(budget).length > 0 && { budget }),
    ...(max !== loop.iterations_max && { iterations_max: max }),
  };
}

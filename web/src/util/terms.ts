import type { Schemas } from "@/api/client";

import { limitWords } from "./budget";

export type Narrowed = Schemas["NarrowedView"];

/** What was requested when a session was created here, and what of it was narrowed. */
export interface Terms {
  /** Settings and what was requested, in words. */
  requested: [string, string][];
  narrowed: Narrowed[];
}

const NAMES: Record<string, string> = {
  "budget.cost_micros": "Cost limit",
  "budget.tokens": "Token limit",
  "budget.turns": "Turn limit",
  "budget.wall_seconds": "Time limit",
  mode: "Mode",
  model: "Model",
  policy: "Policy",
  tier: "Containment",
};

const nameOf = (setting: string): string => NAMES[setting] ?? setting;

type Value = Narrowed["requested"];

/** Words a value; `absent` is what no value means. */
function valueWords(setting: string, value: Value, absent: string): string {
  if (value === undefined || value === null) {
    return absent;
  }
  switch (typeof value) {
    case "number":
      return limitWords(setting, value);
    case "string":
      return value;
    default:
      return policyWords(value);
  }
}

function policyWords({ default: verdict = "ask", allow = [], deny = [] }: Schemas["PolicyInput"]): string {
  const rules = [
    allow.length > 0 ? `${allow.length} allowed` : "",
    deny.length > 0 ? `${deny.length} denied` : "",
  ];
  return [verdict, ...rules.filter(Boolean)].join(", ");
}

/** Describes the terms that are not as requested, each in a sentence. */
export function narrowedWords(narrowed: readonly Narrowed[]): string[] {
  return narrowed.map(({ setting, requested, applied }) => {
    const asked = valueWords(setting, requested, "no limit");
    const has = valueWords(setting, applied, "the agent’s own choice");
    return `${nameOf(setting)}: ${asked} requested, ${has} applied`;
  });
}

const key = (session: string) => `terms-${session}`;

/** Keeps what was requested of a session, for as long as the tab is open. */
export function keepTerms(session: string, terms: Terms): void {
  try {
    sessionStorage.setItem(key(session), JSON.stringify(terms));
  } catch {
    // A full or forbidden store only costs the comparison.
  }
}

/** Returns what was requested of a session, if it was created in this tab. */
export function readTerms(session: string): Terms | undefined {
  try {
    const stored = JSON.parse(sessionStorage.getItem(key(session)) ?? "null") as Partial<Terms> | null;
    return stored && Array.isArray(stored.requested) && Array.isArray(stored.narrowed) ? (stored as Terms) : undefined;
  } catch {
    return undefined;
  }
}

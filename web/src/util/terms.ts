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
  policy: "Policy",
};

const nameOf = (setting: string): string => NAMES[setting] ?? setting;

/** Says what was narrowed, each in a sentence. */
export function narrowedWords(narrowed: readonly Narrowed[]): string[] {
  return narrowed.map(({ setting, requested, applied }) => {
    const name = nameOf(setting);
    if (requested == null && applied == null) {
      return `${name}: narrower than requested`;
    }
    return `${name}: ${limitWords(setting, requested)} requested, ${limitWords(setting, applied)} applied`;
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

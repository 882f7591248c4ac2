import type { SessionCard } from "@/api/client";

/** What the session's state means for the person who looks. */
export type Column = "working" | "needs_you" | "ready" | "done";

export const COLUMNS: { id: Column; title: string; empty: string }[] = [
  { id: "needs_you", title: "Needs you", empty: "Nothing waits for you." },
  { id: "working", title: "Working", empty: "No agent is at work." },
  { id: "ready", title: "Ready", empty: "Sessions that wait for your next prompt." },
  { id: "done", title: "Done", empty: "Stopped and finished sessions." },
];

/** Derives the column from facts; a session is never dragged into one. */
export function columnOf(session: Pick<SessionCard, "state" | "budget_spent">): Column {
  switch (session.state) {
    case "waiting":
    case "failed":
    case "interrupted":
      return "needs_you";
    case "creating":
    case "running":
    case "reviewing":
    case "stopping":
      return "working";
    case "idle":
      return session.budget_spent ? "needs_you" : "ready";
    default:
      return "done";
  }
}

const ENDS = ["completed", "failed", "terminated", "abandoned"];
const BUSY = ["running", "waiting", "reviewing"];

type Facts = { state: string; archived?: boolean };

/** Why something cannot be done to a session now, or nothing if it can. The server decides; this only saves a vain click. */
export const sessionCan = {
  prompt: ({ state, archived }: Facts): string | undefined => {
    if (archived) return "It is archived; restore it first.";
    if (ENDS.includes(state)) return `It is ${state} and cannot go on; fork it to continue.`;
    return state === "stopping" ? "It is being stopped." : undefined;
  },
  interrupt: ({ state }: Facts): string | undefined =>
    BUSY.includes(state) ? undefined : "Nothing is running.",
  stop: ({ state }: Facts): string | undefined =>
    ["creating", "idle", ...BUSY].includes(state) ? undefined : "It has no process.",
  resume: ({ state, archived }: Facts): string | undefined => {
    if (archived) return "It is archived; restore it first.";
    return ["stopped", "interrupted"].includes(state) ? undefined : "It was not stopped.";
  },
  delete: ({ state }: Facts): string | undefined =>
    ["creating", "stopping", ...BUSY].includes(state) ? "Stop it first." : undefined,
};

export const isBusy = (state: string): boolean => BUSY.includes(state) || state === "creating";

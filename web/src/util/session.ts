/** Where a session's work is, as the server derives it from facts; a session is never dragged into one. */
export const STAGES = [
  { id: "needs_you", title: "Needs you", empty: "Nothing waits for you." },
  { id: "working", title: "Working", empty: "No agent is at work." },
  { id: "in_review", title: "In review", empty: "" },
  { id: "ready_to_merge", title: "Ready to merge", empty: "Committed work that is not merged yet." },
  { id: "ready", title: "Ready", empty: "Sessions that wait for your next prompt." },
  { id: "done", title: "Done", empty: "Stopped, finished and merged." },
] as const;

const ENDS = ["completed", "failed", "terminated", "abandoned"];
const BUSY = ["running", "waiting", "reviewing"];

/** How much of somebody else's session is given to whoever looks; nothing for one's own. */
type Shared = { shared?: string | null };
type Facts = Shared & { state: string; archived?: boolean; budget_spent?: string | null };

/** Why whoever looks cannot do more than look at a session and prompt it, if they cannot. */
export const notOwn = ({ shared }: Shared): string | undefined => (shared ? "It is somebody else’s session." : undefined);

/** Why something cannot be done to a session now, or nothing if it can. The server decides; this only saves a vain click. */
export const sessionCan = {
  prompt: ({ state, archived, shared, budget_spent }: Facts): string | undefined => {
    if (shared === "read") return "It is shared with you to read.";
    if (budget_spent) return `Its budget of ${budget_spent} is used up.${shared ? "" : " Raise it in its settings."}`;
    if (archived) return "It is archived; restore it first.";
    if (ENDS.includes(state)) return `It is ${state} and cannot go on; fork it to continue.`;
    return state === "stopping" ? "It is being stopped." : undefined;
  },
  interrupt: ({ state, shared }: Facts): string | undefined =>
    notOwn({ shared }) ?? (BUSY.includes(state) ? undefined : "Nothing is running."),
  stop: ({ state, shared }: Facts): string | undefined =>
    notOwn({ shared }) ?? (["creating", "idle", ...BUSY].includes(state) ? undefined : "It has no process."),
  resume: ({ state, archived, shared }: Facts): string | undefined => {
    if (shared) return notOwn({ shared });
    if (archived) return "It is archived; restore it first.";
    return ["stopped", "interrupted"].includes(state) ? undefined : "It was not stopped.";
  },
  delete: ({ shared }: Facts): string | undefined => notOwn({ shared }),
};

export const isBusy = (state: string): boolean => BUSY.includes(state) || state === "creating";

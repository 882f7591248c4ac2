/** The panes beside a conversation; the address tells which is open. */
export const PANES = ["diff", "tree", "turns", "tasks", "log", "settings"] as const;

export type Pane = (typeof PANES)[number];

/** What somebody who was given a session sees of it: not what it works on, nor how it is set up. */
const OF_GUESTS: readonly Pane[] = ["turns", "tree"];

/** The panes of a session, the one that is shown unless another is asked for first. */
export function panesOf({ shared }: { shared?: string | null }): readonly Pane[] {
  return shared ? OF_GUESTS : PANES;
}

export function readPane(value: unknown): Pane | undefined {
  return PANES.find((pane) => pane === value);
}

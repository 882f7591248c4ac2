/** The panes beside a conversation; the address tells which is open. */
export const PANES = ["diff", "tree", "turns", "tasks", "log", "settings"] as const;

export type Pane = (typeof PANES)[number];

export function readPane(value: unknown): Pane | undefined {
  return PANES.find((pane) => pane === value);
}

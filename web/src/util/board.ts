import type { Board, BoardCards, Placement, SessionCard, WorktreeCard, Zone } from "@/api/client";

/** How a board is looked at; the address tells which. */
export const VIEWS = ["canvas", "status"] as const;
export type View = (typeof VIEWS)[number];

export function readView(value: unknown): View | undefined {
  return VIEWS.find((view) => view === value);
}

/** What lies on a board, or is to. */
export interface Item {
  kind: Placement["kind"];
  /** The last 8 digits. */
  id: string;
}

/** Something on the canvas: where it lies, and what is known of it. */
export interface Lying extends Item {
  placement: Placement;
  /** None when it is archived, gone, or somebody else's. */
  session?: SessionCard | undefined;
  worktree?: WorktreeCard | undefined;
  /** The sessions that work in the worktree. */
  sessions: SessionCard[];
}

export const CARD_WIDTH = 272;
/** The most height of a session's card, and of a worktree's without its sessions. */
const SESSION_HEIGHT = 230;
const WORKTREE_HEIGHT = 130;
/** The most height of one session in a worktree's card, and of all of them. */
const INNER_HEIGHT = 190;
const INNER_HEIGHT_MAX = 300;
const GAP = 16;
/** Room for the name of a zone. */
const HEADING = 48;

const short = (id: string) => id.slice(-8);

/** Puts together what lies on a board and what is known of it. */
export function lying(board: Board, cards: BoardCards): Lying[] {
  return board.items.map((placement) => {
    const id = short(placement.id);
    return placement.kind === "session"
      ? { kind: placement.kind, id, placement, session: cards.sessions.find((card) => card.id === id), sessions: [] }
      : {
          kind: placement.kind,
          id,
          placement,
          worktree: cards.worktrees.find((card) => card.id === id),
          sessions: cards.sessions.filter((card) => card.worktree === id),
        };
  });
}

/** What belongs to a board and lies nowhere on it, neither itself nor by its worktree. */
export function notPlaced(board: Board, cards: BoardCards): { item: Item; title: string }[] {
  const placed = (kind: Placement["kind"], id?: string | null) =>
    board.items.some((item) => item.kind === kind && short(item.id) === id);
  const worktrees = cards.worktrees.filter((card) => !placed("worktree", card.id));
  const sessions = cards.sessions.filter((card) => !placed("session", card.id) && !placed("worktree", card.worktree));
  return [
    ...worktrees.map((card) => ({ item: { kind: "worktree" as const, id: card.id }, title: card.name })),
    ...sessions.map((card) => ({ item: { kind: "session" as const, id: card.id }, title: card.title })),
  ];
}

interface Point {
  x: number;
  y: number;
}

/** The zone that a point lies in: the smallest, when several do. */
export function zoneAt(zones: Zone[], { x, y }: Point): Zone | undefined {
  const around = zones.filter((zone) => x >= zone.x && x <= zone.x + zone.width && y >= zone.y && y <= zone.y + zone.height);
  return around.sort((a, b) => a.width * a.height - b.width * b.height)[0];
}

/** The most height that something on a board has. */
function heightOf(item: Pick<Placement, "kind" | "id">, cards: BoardCards): number {
  if (item.kind === "session") {
    return SESSION_HEIGHT;
  }
  const inside = cards.sessions.filter((card) => card.worktree === short(item.id)).length;
  return WORKTREE_HEIGHT + Math.min(INNER_HEIGHT_MAX, inside * INNER_HEIGHT);
}

/** A place in a zone, or beside all of them, for what is put there without a mouse: below what lies there already. */
export function freeSpot(board: Board, cards: BoardCards, zone?: Zone): Point {
  const left = zone ? zone.x + GAP : Math.min(0, ...board.zones.map((other) => other.x)) - CARD_WIDTH - 3 * GAP;
  const top = zone ? zone.y + HEADING : Math.min(0, ...board.zones.map((other) => other.y));
  // Whatever is in the way counts, also what lies across the border of the zone.
  const inTheWay = board.items.filter((item) => Math.abs(item.x - left) < CARD_WIDTH + GAP && item.y + heightOf(item, cards) > top);
  return { x: left, y: Math.max(top, ...inTheWay.map((item) => item.y + heightOf(item, cards) + GAP)) };
}

/** Colours of zones that can be told apart in both themes. */
export const COLOURS = [
  { name: "Teal", value: "#0d9488" },
  { name: "Blue", value: "#2563eb" },
  { name: "Violet", value: "#7c3aed" },
  { name: "Rose", value: "#e11d48" },
  { name: "Amber", value: "#d97706" },
  { name: "Grey", value: "#64748b" },
] as const;

/** A zone's colour, if it is one: nothing else gets into a style. */
export function colourOf(zone: Pick<Zone, "color">): string {
  return zone.color && /^#[0-9a-f]{6}$/i.test(zone.color) ? zone.color : "#64748b";
}

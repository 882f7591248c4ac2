import type { Board, BoardCards, Zone } from "@/api/client";

import type { Item } from "./board";
import { sessionCan } from "./session";

/** Where something on a board is to lie. */
export interface Wish {
  item: Item;
  title: string;
  x: number;
  y: number;
  zone: Zone | undefined;
  /** Whether it comes into a zone that it is not in. */
  isNewZone: boolean;
}

/** Tells whether a placement would start an agent: a worktree in which nobody takes prompts, and a zone that names an agent. */
export function startsAgent({ item }: Wish, zone: Zone, cards: BoardCards): boolean {
  const takesPrompts = cards.sessions.some((card) => card.worktree === item.id && sessionCan.prompt(card) === undefined);
  return item.kind === "worktree" && Boolean(zone.agent && zone.prompt_template) && !takesPrompts;
}

/** Shows things where they are to lie. */
export function withWishes(board: Board, wishes: readonly Wish[]): Board {
  if (wishes.length === 0) {
    return board;
  }
  const items = board.items.map((placement) => {
    const wish = wishes.findLast(({ item }) => item.kind === placement.kind && placement.id.endsWith(item.id));
    return wish ? { ...placement, x: wish.x, y: wish.y, zone_id: wish.zone?.id ?? null } : placement;
  });
  return { ...board, items };
}

import { expect, test } from "vitest";

import type { Board, BoardCards, Zone } from "@/api/client";

import { startsAgent, withWishes, type Wish } from "./placing";

const zone = { id: "z", name: "Review", x: 0, y: 0, width: 9, height: 9, prompt_template: "say hello", agent: "echo" } as Zone;
const wish = (kind: "session" | "worktree"): Wish => ({ item: { kind, id: "0000000a" }, title: "a", x: 5, y: 6, zone, isNewZone: true });
const cards = (state?: string) =>
  ({ sessions: state ? [{ id: "00000001", worktree: "0000000a", state }] : [], worktrees: [] }) as unknown as BoardCards;

test("only a worktree in which nobody takes prompts starts an agent", () => {
  expect(startsAgent(wish("worktree"), zone, cards())).toBe(true);
  expect(startsAgent(wish("worktree"), zone, cards("completed"))).toBe(true);
  expect(startsAgent(wish("worktree"), zone, cards("idle"))).toBe(false);
  expect(startsAgent(wish("session"), zone, cards())).toBe(false);
  expect(startsAgent(wish("worktree"), { ...zone, agent: null }, cards())).toBe(false);
});

test("what is not saved yet is shown where it is to lie", () => {
  const board = { items: [{ kind: "session", id: "x-0000000a", x: 0, y: 0 }, { kind: "session", id: "x-0000000b", x: 1, y: 1 }] } as Board;
  const { items } = withWishes(board, [wish("session")]);
  expect(items).toMatchObject([{ x: 5, y: 6, zone_id: "z" }, { x: 1, y: 1 }]);
  expect(withWishes(board, [])).toBe(board);
});

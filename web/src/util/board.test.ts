import { expect, test } from "vitest";

import type { Board, BoardCards, Zone } from "@/api/client";

import { colourOf, freeSpot, lying, notPlaced, zoneAt } from "./board";

const zone = (id: string, x: number, width: number): Zone => ({ id, name: id, x, y: 0, width, height: 100 });
const board = (items: Board["items"], zones: Zone[] = []) => ({ items, zones }) as Board;
const session = (id: string, worktree?: string) => ({ id, worktree, title: id }) as BoardCards["sessions"][number];
const cards: BoardCards = {
  sessions: [session("00000001"), session("00000002", "0000000a"), session("00000003", "0000000b")],
  worktrees: [{ id: "0000000a", name: "a" } as BoardCards["worktrees"][number]],
};

test("a card is in the smallest zone that its middle lies in", () => {
  const zones = [zone("wide", 0, 400), zone("small", 100, 50), zone("far", 900, 10)];
  expect(zoneAt(zones, { x: 120, y: 50 })?.id).toBe("small");
  expect(zoneAt(zones, { x: 300, y: 50 })?.id).toBe("wide");
  expect(zoneAt(zones, { x: 600, y: 50 })).toBeUndefined();
});

test("a worktree shows its sessions, and what lies nowhere is told", () => {
  const placed = board([{ kind: "worktree", id: "x-0000000a", x: 0, y: 0 }, { kind: "session", id: "x-99999999", x: 0, y: 0 }]);
  const [worktree, gone] = lying(placed, cards);
  expect(worktree?.sessions.map((card) => card.id)).toEqual(["00000002"]);
  expect(gone?.session).toBeUndefined();
  expect(notPlaced(placed, cards).map(({ item }) => item.id)).toEqual(["00000001", "00000003"]);
});

test("what is placed without a mouse covers nothing", () => {
  const review = zone("review", 0, 400);
  const first = freeSpot(board([], [review]), cards, review);
  const second = freeSpot(board([{ kind: "session", id: "1", ...first, zone_id: "review" }], [review]), cards, review);
  expect(zoneAt([review], first)?.id).toBe("review");
  expect(second.y - first.y).toBeGreaterThan(200);
  expect(zoneAt([review], freeSpot(board([], [review]), cards))).toBeUndefined();
  // A worktree is as high as the sessions in it make it.
  const empty = freeSpot(board([{ kind: "worktree", id: "x-0000000c", x: -320, y: 0 }]), cards);
  const full = freeSpot(board([{ kind: "worktree", id: "x-0000000a", x: -320, y: 0 }]), cards);
  expect(full.y).toBeGreaterThan(empty.y);
});

test("nothing but a colour gets into a style", () => {
  expect(colourOf({ color: "#3366ff" })).toBe("#3366ff");
  expect(colourOf({ color: "red;background:url(//evil)" })).toMatch(/^#/);
});

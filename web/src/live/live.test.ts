import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { FeedEvent, Message } from "@/api/client";
import { keys } from "@/api/queries";

import { merged } from "./cache";
import { effectsOf } from "./effects";
import { Feed } from "./feed";
import { Single } from "./single";

class Socket {
  static all: Socket[] = [];
  onopen?: () => void;
  onmessage?: (message: { data: string }) => void;
  onclose?: (closed: { code: number }) => void;
  constructor(readonly url: string) {
    Socket.all.push(this);
  }
  say(message: unknown): void {
    this.onmessage?.({ data: JSON.stringify(message) });
  }
  close(): void {}
}

const event = (seq: number, rest: Partial<FeedEvent> = {}): FeedEvent & { type: "event" } => ({
  type: "event",
  seq,
  at: "2026-01-01T00:00:00Z",
  kind: "updated",
  subject_kind: "session",
  subject_id: "01a1e180-7da6-7766-8294-7bda2942616a",
  ...rest,
});

beforeEach(() => {
  Socket.all = [];
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

test("a feed goes on from the last number it saw, and says when it is away", () => {
  const seen: string[] = [];
  const feed = new Feed(
    "ws://x/events",
    {
      onEvents: (events) => seen.push(`events ${events.map((one) => one.seq).join()}`),
      onResync: () => seen.push("resync"),
      onStatus: (status) => seen.push(status),
      onRefused: () => seen.push("refused"),
    },
    (url) => new Socket(url) as unknown as WebSocket,
  );
  feed.start();
  const [first] = Socket.all;
  expect(first?.url).toBe(`ws://x/events?after=${Number.MAX_SAFE_INTEGER}`);
  first?.onopen?.();
  first?.say({ type: "resync", through: 40 });
  first?.say(event(41));
  first?.say(event(43));
  vi.advanceTimersByTime(50);
  first?.onclose?.({ code: 1006 });
  vi.advanceTimersByTime(1000);
  expect(Socket.all[1]?.url).toBe("ws://x/events?after=43");
  Socket.all[1]?.onclose?.({ code: 1006 });
  feed.hurry();
  expect(Socket.all).toHaveLength(3);
  expect(seen).toEqual(["live", "resync", "events 41,43", "offline", "offline", "refused"]);
  feed.stop();
});

test("growing messages name what to read again", () => {
  const grown = event(1, { kind: "message_added", facts: { seq: "9", from: "7" } });
  expect(effectsOf(grown)[0]).toEqual({ kind: "messages", session: "2942616a", from: 7, last: 9 });
  expect(effectsOf(event(1, { subject_kind: "key" }))).toEqual([{ kind: "stale", key: keys.keys, soon: false }]);
  const placed = effectsOf(event(1, { subject_kind: "board", subject_id: "00000000-0000-7000-8000-0000deadbeef" }));
  expect(effectsOf(event(1, { kind: "log_changed" }))).toEqual([{ kind: "stale", key: keys.runs("2942616a"), soon: false }]);
  expect(placed).toContainEqual({ kind: "stale", key: keys.board("deadbeef"), soon: false });
});

test("messages are put into pages by their number", () => {
  const message = (seq: number, text: string) => ({ seq, text }) as Message;
  expect(merged([message(1, "a"), message(2, "b")], [message(3, "c"), message(2, "bb")])?.map((one) => one.text)).toEqual([
    "a",
    "bb",
    "c",
  ]);
  expect(merged(undefined, [message(1, "a")])).toBeUndefined();
});

test("what is asked for during work is done once afterwards", async () => {
  const done: number[] = [];
  let finish: () => void = () => undefined;
  const single = new Single<number>(async (_, about) => {
    done.push(about);
    await new Promise<void>((resolve) => (finish = resolve));
  }, Math.min);
  single.ask("x", 9);
  single.ask("x", 7);
  single.ask("x", 8);
  expect(done).toEqual([9]);
  finish();
  await vi.advanceTimersByTimeAsync(1);
  expect(done).toEqual([9, 7]);
  finish();
  await vi.advanceTimersByTimeAsync(1);
  expect(done).toEqual([9, 7]);
});

import { expect, test } from "vitest";

import { everyDay, readCostSearch, short, topOf, type UsageReport } from "./usage";

const usage = { cost_micros: 5, input_tokens: 1, cached_tokens: 0, output_tokens: 1, wall_seconds: 1, turns: 1 };

const report = (since: string, until: string): UsageReport => ({
  since,
  until,
  total: usage,
  days: [{ day: "2026-11-02", ...usage }],
  agents: [],
  trees: [],
});

test("days without spending are there too, and begin where the reader is", () => {
  const days = (offset: number, since: string, until: string) =>
    everyDay(report(since, until), offset).map(({ day, usage: known }) => [day, known?.cost_micros]);
  expect(days(0, "2026-11-01T00:00:00Z", "2026-11-04T00:00:00Z")).toEqual([
    ["2026-11-01", undefined],
    ["2026-11-02", 5],
    ["2026-11-03", undefined],
  ]);
  expect(days(120, "2026-11-01T22:00:00Z", "2026-11-02T01:00:00Z")).toEqual([["2026-11-02", 5]]);
  expect(days(-300, "2026-11-01T05:00:00Z", "2026-11-02T05:00:01Z").map(([day]) => day)).toEqual(["2026-11-01", "2026-11-02"]);
});

test("charts end at a number that is easy to read", () => {
  expect([0, 1, 3, 17, 20, 51, 100, 730_000].map(topOf)).toEqual([1, 1, 5, 20, 20, 100, 100, 1_000_000]);
});

test("tokens are written short", () => {
  expect([0, 999, 1_000, 12_345, 123_456, 4_500_000].map(short)).toEqual(["0", "999", "1.0k", "12.3k", "123k", "4.5M"]);
});

test("addresses name a time or nothing", () => {
  expect(readCostSearch({ since: "7d", until: "<script>" })).toEqual({ since: "7d" });
  expect(readCostSearch({ since: "2026-11-01", until: "2026-11-30" })).toEqual({ since: "2026-11-01", until: "2026-11-30" });
  expect(readCostSearch({ since: 7, until: "" })).toEqual({});
});

import { expect, test } from "vitest";

import { narrowedWords } from "./terms";

test("what was narrowed is said with both numbers", () => {
  const narrowed = [
    { setting: "budget.tokens", requested: 500_000, applied: 100_000 },
    { setting: "budget.cost_micros", applied: 2_000_000 },
    { setting: "policy" },
  ];
  expect(narrowedWords(narrowed)).toEqual([
    "Token limit: 500,000 tokens requested, 100,000 tokens applied",
    "Cost limit: no limit requested, $2.00 applied",
    "Policy: narrower than requested",
  ]);
});

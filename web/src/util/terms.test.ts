import { expect, test } from "vitest";

import { narrowedWords } from "./terms";

test("terms that are not as requested are described with both values", () => {
  const narrowed = [
    { setting: "budget.tokens", requested: 500_000, applied: 100_000 },
    { setting: "budget.cost_micros", applied: 2_000_000 },
    { setting: "policy", requested: { default: "allow" }, applied: { default: "ask", deny: [{ kinds: ["edit"] }] } },
    { setting: "model", requested: "large" },
  ];
  expect(narrowedWords(narrowed)).toEqual([
    "Token limit: 500,000 tokens requested, 100,000 tokens applied",
    "Cost limit: no limit requested, $2.00 applied",
    "Policy: allow requested, ask, 1 denied applied",
    "Model: large requested, the agent’s own choice applied",
  ]);
});

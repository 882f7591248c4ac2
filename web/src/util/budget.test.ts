import { expect, test } from "vitest";

import { budgetChanges, budgetOf, fieldsOf, isBudget, limitWords, NO_LIMITS } from "./budget";

test("a budget is written in dollars and minutes, and read back", () => {
  const budget = { cost_micros: 2_500_000, tokens: 100_000, wall_seconds: 90 };
  const fields = fieldsOf(budget);
  expect(fields).toEqual({ dollars: "2.5", tokens: "100000", turns: "", minutes: "1.5" });
  expect(budgetOf(fields)).toEqual(budget);
  expect(budgetOf(NO_LIMITS)).toEqual({});
});

test("only what differs is changed, and an empty field removes a limit", () => {
  const before = { cost_micros: 333_333, turns: 1 };
  expect(budgetChanges(before, fieldsOf(before))).toEqual({});
  expect(budgetChanges(before, { ...fieldsOf(before), turns: "", tokens: "500" })).toEqual({ turns: null, tokens: 500 });
  // A limit that has no short decimal form stays as it is.
  expect(budgetChanges({ wall_seconds: 100 }, fieldsOf({ wall_seconds: 100 }))).toEqual({});
});

test("what is no number is no budget", () => {
  expect(isBudget({ ...NO_LIMITS, dollars: "1.25" })).toBe(true);
  expect(isBudget({ ...NO_LIMITS, dollars: "a lot" })).toBe(false);
  expect(isBudget({ ...NO_LIMITS, turns: "-1" })).toBe(false);
});

test("a narrowed limit is said in the units that people write", () => {
  expect(limitWords("budget.cost_micros", 5_000_000)).toBe("$5.00");
  expect(limitWords("budget.wall_seconds", 120)).toBe("2 minutes of work");
  expect(limitWords("budget.turns", undefined)).toBe("no limit");
});

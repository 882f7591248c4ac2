import { expect, test } from "vitest";

import { NO_LIMITS } from "./budget";
import { NO_SETTINGS, requestedWords, requestOf } from "./session-request";

test("only what was filled in is requested", () => {
  expect(requestOf(NO_SETTINGS)).toEqual({});
  const settings = { model: " m-large ", mode: "", otherActions: "deny" as const, budget: { ...NO_LIMITS, dollars: "2" }, tools: "agor" };
  expect(requestOf(settings)).toEqual({ model: "m-large", policy: { default: "deny" }, budget: { cost_micros: 2_000_000 }, mcp_dialect: "agor" });
  expect(requestedWords(settings, "a worktree")).toEqual([
    ["Workspace", "a worktree"],
    ["Model", "m-large"],
    ["Other actions", "deny"],
    ["Tools", "agor"],
    ["US dollars", "$2.00"],
  ]);
});

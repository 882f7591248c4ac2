import { expect, test } from "vitest";

import { readAuditSearch } from "./audit";

test("addresses ask for what can be asked for", () => {
  const all = { user: "ann", operation: "key_create", outcome: "refused", surface: "mcp", about: "89abcdef", since: "2026-11-01", until: "2026-11-02" };
  expect(readAuditSearch(all)).toEqual(all);
  expect(readAuditSearch({ about: 12345678, outcome: "NOT_FOUND", user: " " })).toEqual({ about: "12345678", outcome: "NOT_FOUND" });
  expect(readAuditSearch({ outcome: "<b>", surface: "cli", since: "7d", until: {}, operation: "x".repeat(201), other: "y" })).toEqual({});
});

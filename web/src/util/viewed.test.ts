import { expect, test } from "vitest";

import { asViewed, lookOf, looksAs } from "./viewed";

const file = { path: "a", change: "modified", kind: "file", added: 1, deleted: 0, patch: "@@ -1 +1,2 @@\n a\n+b" };

test("a file that changed again looks otherwise", () => {
  expect(lookOf({ ...file })).toBe(lookOf(file));
  expect(lookOf({ ...file, patch: file.patch.replace("+b", "+c") })).not.toBe(lookOf(file));
  expect(lookOf({ ...file, change: "deleted" })).not.toBe(lookOf(file));
  const { patch: _, ...named } = file;
  expect(looksAs(lookOf(file), named, undefined)).toBe(true);
  expect(looksAs(lookOf(file), named, { ...file, patch: "" })).toBe(false);
  expect(looksAs(lookOf(file), { ...named, added: 2 }, undefined)).toBe(false);
  expect(looksAs(undefined, named, file)).toBe(false);
});

test("what was stored is checked", () => {
  expect(asViewed([["a", "x"]])).toEqual([["a", "x"]]);
  expect(asViewed({ a: "x" })).toBeUndefined();
  expect(asViewed([["a"]])).toBeUndefined();
});

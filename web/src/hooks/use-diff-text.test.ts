import { expect, test } from "vitest";

import { stretchesOf } from "./use-diff-text";

test("few files are read at once, and of many those that are seen", () => {
  expect(stretchesOf([0, 299], 300)).toEqual([{ first: 0, count: 300 }]);
  expect(stretchesOf([45, 19, 20, 46], 1_000)).toEqual([0, 20, 40].map((first) => ({ first, count: 20 })));
  expect(stretchesOf([], 7)).toEqual([]);
});

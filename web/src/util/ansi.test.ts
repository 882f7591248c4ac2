import { expect, test } from "vitest";

import { ansiSpans } from "./ansi";

const words = (text: string) => ansiSpans(text).map((span) => span.text).join("");

test("colours are kept", () => {
  expect(ansiSpans("a\u001b[1;31mb\u001b[0mc")).toEqual([
    { text: "a", style: "" },
    { text: "b", style: "ansi-red ansi-bold" },
    { text: "c", style: "" },
  ]);
  expect(ansiSpans("\u001b[38;5;196mx\u001b[92my")).toEqual([
    { text: "x", style: "" },
    { text: "y", style: "ansi-green" },
  ]);
});

test("everything else a terminal would do is dropped", () => {
  expect(words("\u001b[2J\u001b[Hcleared")).toBe("cleared");
  expect(words("\u001b]0;title\u0007text")).toBe("text");
  expect(words("\u001b]8;;javascript:x\u001b\\link\u001b]8;;\u001b\\")).toBe("link");
  expect(words("\u009b31mcsi\u001bPq\u001b\\")).toBe("csi");
  expect(words("\u001b]never ended")).toBe("");
});

test("whatever comes, no escape is left", () => {
  let seed = 7;
  const next = (below: number) => (seed = (seed * 48271) % 2147483647) % below;
  const parts = ["\u001b", "[", "]", ";", "m", "0", "31", "a", "\u0007", "\\", "\u009b", "P", "?"];
  for (let round = 0; round < 2000; round += 1) {
    const text = Array.from({ length: 12 }, () => parts[next(parts.length)]).join("");
    expect(words(text), JSON.stringify(text)).not.toMatch(/\u001b|\u009b/);
  }
});

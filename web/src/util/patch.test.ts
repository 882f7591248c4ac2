import { expect, test } from "vitest";

import { commentsPrompt, placeOf } from "./comments";
import { hunksOf, sideBySide } from "./patch";

const PATCH = `diff --git a/f b/f
--- a/f
+++ b/f
@@ -1,3 +1,4 @@ fn main()
 one
-two
+zwei
+zweieinhalb
 three
@@ -9 +10 @@
-@@ -1 +1 @@
+--- not a heading
\\ No newline at end of file
`;

test("lines have their numbers on both sides", () => {
  const [first, second] = hunksOf(PATCH);
  expect(first?.lines.map(({ kind, old, new: after, text }) => [kind, old, after, text])).toEqual([
    ["context", 1, 1, "one"],
    ["deleted", 2, undefined, "two"],
    ["added", undefined, 2, "zwei"],
    ["added", undefined, 3, "zweieinhalb"],
    ["context", 3, 4, "three"],
  ]);
  expect(second?.lines.map((line) => line.text)).toEqual(["@@ -1 +1 @@", "--- not a heading", "No newline at end of file"]);
});

test("what was replaced stands beside what took its place", () => {
  const rows = sideBySide(hunksOf(PATCH)[0]?.lines ?? []);
  expect(rows.map(([before, after]) => [before?.text, after?.text])).toEqual([
    ["one", "one"],
    ["two", "zwei"],
    [undefined, "zweieinhalb"],
    ["three", "three"],
  ]);
});

test("comments become one prompt, in the order of files and lines", () => {
  const lines = hunksOf(PATCH)[0]?.lines ?? [];
  const at = (index: number) => placeOf(lines[index] ?? { kind: "note", text: "" }) ?? { side: "new", line: 0, quote: "" };
  const prompt = commentsPrompt([
    { id: "1", path: "g", ...at(3), text: "why?" },
    { id: "2", path: "f", ...at(2), text: " English, please " },
    { id: "3", path: "f", ...at(1), text: "keep this" },
  ]);
  expect(prompt).toBe(
    "Please see to these 3 comments on your changes:\n\nf:2\n> +zwei\nEnglish, please\n\n" +
      "f:2 (before the change)\n> -two\nkeep this\n\ng:3\n> +zweieinhalb\nwhy?",
  );
});

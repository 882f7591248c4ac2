import { expect, test } from "vitest";

import { fileTree, filesOf, matching, rowsOf, treeMove } from "./file-tree";

const files = (...paths: string[]) => paths.map((path) => ({ path, change: "modified", added: 2, deleted: 1 }));
const shown = (paths: string[], closed: string[] = []) =>
  rowsOf(fileTree(files(...paths)), new Set(closed)).map(({ part, level }) => `${"  ".repeat(level - 1)}${part.name}${part.kind === "folder" ? "/" : ""}`);

test("folders with one child stand on one line, and what is in one stands together", () => {
  expect(shown(["README.md", "src/main/java/App.java", "src/main/java/util/Text.java", "web/a.ts"])).toEqual([
    "README.md",
    "src/main/java/",
    "  App.java",
    "  util/",
    "    Text.java",
    "web/",
    "  a.ts",
  ]);
  expect(shown(["a/x", "b", "a/y"])).toEqual(["a/", "  x", "  y", "b"]);
});

test("a folder sums up what is in it, and hides it when it is closed", () => {
  const [folder] = fileTree(files("a/b/c", "a/b/d/e", "a/f"));
  expect(folder).toMatchObject({ name: "a", files: 3, added: 6, deleted: 3 });
  expect(shown(["a/b/c", "a/f"], ["a/"])).toEqual(["a/"]);
  expect(fileTree([{ path: "p.png", change: "added", added: null }])[0]).toMatchObject({ added: 0, deleted: 0 });
});

test("names mean nothing but themselves", () => {
  expect(shown(["__proto__/constructor", "constructor"])).toEqual(["__proto__/", "  constructor", "constructor"]);
  // A file that became a folder: both are there, and each has a key of its own.
  const rows = rowsOf(fileTree(files("a", "a/b")), new Set());
  expect(rows.map(({ part }) => part.key)).toEqual(["a", "a/", "a/b"]);
});

test("the files come in the order of the tree, and are found by words", () => {
  const all = files("a/x", "b", "a/y");
  expect(filesOf(fileTree(all)).map((file) => file.path)).toEqual(["a/x", "a/y", "b"]);
  expect(matching(files("src/Text.ts", "src/list.ts", "text.md"), " TEXT .ts").map((file) => file.path)).toEqual(["src/Text.ts"]);
  expect(matching(all, "  ")).toHaveLength(3);
});

test("keys move as in every tree", () => {
  const rows = rowsOf(fileTree(files("a/b", "a/c", "d")), new Set());
  expect(treeMove(rows, 0, "ArrowDown")).toEqual({ to: 1 });
  expect(treeMove(rows, 0, "ArrowUp")).toEqual({ to: 0 });
  expect(treeMove(rows, 0, "End")).toEqual({ to: 3 });
  expect(treeMove(rows, 0, "ArrowRight")).toEqual({ to: 1 });
  expect(treeMove(rows, 2, "ArrowLeft")).toEqual({ to: 0 });
  expect(treeMove(rows, 0, "ArrowLeft")).toEqual({ toggle: "a/" });
  expect(treeMove(rows, 3, "ArrowLeft")).toBeUndefined();
  const closed = rowsOf(fileTree(files("a/b", "d")), new Set(["a/"]));
  expect(treeMove(closed, 0, "ArrowRight")).toEqual({ toggle: "a/" });
  expect(treeMove(closed, 1, "x")).toBeUndefined();
});

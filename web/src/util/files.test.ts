import { expect, test } from "vitest";

import { sentFiles } from "./files";

test("the files of a prompt are read, and nothing else is taken for them", () => {
  const file = { name: "a.png", media_type: "image/png", bytes: 3 };
  expect(sentFiles({ files: [file, { name: 1 }, null, "x"] })).toEqual([file]);
  for (const other of [undefined, null, "files", { files: "no" }, { file: [file] }]) {
    expect(sentFiles(other)).toEqual([]);
  }
});

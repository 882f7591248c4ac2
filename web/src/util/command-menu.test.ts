import { expect, test } from "vitest";

import { commandsFor } from "./command-menu";

const commands = ["review", "init", "preview"].map((name) => ({ name, about: `does ${name}` }));
const names = (text: string) => commandsFor(text, commands).map(({ name }) => name);

test("a slash offers every command, and letters those that they fit, beginnings first", () => {
  expect(names("/")).toEqual(["review", "init", "preview"]);
  expect(names("/REV")).toEqual(["review", "preview"]);
  expect(names("/zzz")).toEqual([]);
});

test("nothing is offered in the middle of a prompt", () => {
  for (const text of ["", "say /rev", "/review this", "/review\n"]) {
    expect(names(text), text).toEqual([]);
  }
});

import { expect, test } from "vitest";

import { fitting } from "./choices";

const GROUPS = [
  { heading: "Pages", choices: [{ id: "/boards", title: "Boards" }, { id: "/keys", title: "Keys" }] },
  { heading: "Sessions", choices: [{ id: "0199b2aa-77bb", title: "say hello keyboard" }, { id: "0199b2aa-88cc", title: "tidy the harbour" }] },
  { heading: "Boards", choices: [{ id: "0199c3dd-00ee", title: "Harbour" }] },
  { heading: "Loops", choices: [] },
];

const titles = (search: string) => fitting(GROUPS, search).map(({ heading, choices }) => [heading, ...choices.map(({ title }) => title)]);

test("everything there is, as long as nothing is searched", () => {
  expect(titles(" ")).toEqual([
    ["Pages", "Boards", "Keys"],
    ["Sessions", "say hello keyboard", "tidy the harbour"],
    ["Boards", "Harbour"],
  ]);
});

test("what fits best is first, and so is its group", () => {
  expect(titles("harb")).toEqual([
    ["Boards", "Harbour"],
    ["Sessions", "tidy the harbour"],
  ]);
});

test("the letters of an id are not those of a title", () => {
  expect(titles("keyb77")).toEqual([]);
  expect(titles("0199")).toEqual([]);
  expect(titles("0199B2aa-8")).toEqual([["Sessions", "tidy the harbour"]]);
});

test("what the server found is kept", () => {
  const found = { id: "0199d4ee-1122", title: "Mend the login", isFound: true };
  const groups = [{ heading: "Sessions", choices: [found, { id: "0199d4ee-3344", title: "login mended" }] }];
  expect(fitting(groups, "login mend")).toMatchObject([{ choices: [{ title: "login mended" }, { title: "Mend the login" }] }]);
});

test("nothing fits", () => {
  expect(titles("zzz")).toEqual([]);
});

import { QueryClient } from "@tanstack/react-query";
import { expect, test } from "vitest";

import { isStale, put } from "./put";

const KEY = ["session", "2942616a"];

test("what is out of date stays so when an answer is put beside it", async () => {
  const client = new QueryClient();
  client.setQueryData(KEY, { title: "old", state: "idle" });
  // An event arrives between the change and its answer.
  await client.invalidateQueries({ queryKey: KEY, refetchType: "none" });
  put(client, KEY, { title: "new", state: "idle" });
  expect(client.getQueryData(KEY)).toMatchObject({ title: "new" });
  expect(isStale(client, KEY)).toBe(true);
});

test("what is up to date is not read again for it", () => {
  const client = new QueryClient();
  client.setQueryData(KEY, 1);
  put<number>(client, KEY, (kept) => (kept ?? 0) + 1);
  expect([client.getQueryData(KEY), isStale(client, KEY), isStale(client, ["other"])]).toEqual([2, false, false]);
});

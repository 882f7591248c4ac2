import { expect, test } from "vitest";

import { conversation, idle, said, send, startSession, visit } from "./browser";
import { stage } from "./stage";

const on = stage();

test("comments on two lines reach the agent as one prompt", async () => {
  const repo = await on.server.repo();
  const { page, troubles } = await visit(on.browser, on.server);
  await startSession(page, "write README.md uno\nwrite notes.txt remember", repo);
  await idle(page);
  const diff = page.getByRole("tabpanel", { name: "Diff" });
  await diff.getByText("2 files").waitFor();

  await diff.getByRole("button", { name: "Comment on line 1 of README.md", exact: true }).click();
  await diff.getByRole("textbox", { name: "Comment on README.md, line 1" }).fill("why Spanish?");
  await diff.getByRole("button", { name: "Add comment" }).click();
  await diff.getByRole("button", { name: "Split" }).click();
  await diff.getByRole("button", { name: "Comment on line 1 of notes.txt", exact: true }).click();
  await diff.getByRole("textbox", { name: "Comment on notes.txt, line 1" }).fill("remember what?");
  await diff.getByRole("button", { name: "Add comment" }).click();

  // What was written survives a reload.
  await page.reload();
  await diff.getByText("2 comments not sent yet").waitFor();
  await diff.getByText("why Spanish?").waitFor();
  await diff.getByRole("button", { name: "Send 2 comments as one prompt" }).click();

  await diff.getByText("not sent yet").waitFor({ state: "detached" });
  const heading = "Please see to these 2 comments on your changes:";
  const text = await conversation(page).getByText(heading).first().innerText();
  expect(text).toContain("README.md:1\n> +uno\nwhy Spanish?");
  expect(text).toContain("notes.txt:1\n> +remember\nremember what?");

  await page.getByRole("tab", { name: "Turns" }).click();
  await page.getByRole("list", { name: "Turns" }).getByText("Turn 2").waitFor();
  await idle(page);
  expect(await page.getByRole("list", { name: "Turns" }).getByRole("listitem").count()).toBe(2);
  expect(troubles).toEqual([]);
});

test("a fork goes on from a turn, and the tree shows the family", async () => {
  const repo = await on.server.repo("family");
  const { page, troubles } = await visit(on.browser, on.server);
  await startSession(page, "say the beginning\nspawn say I am the child", repo);
  await idle(page);
  await page.getByRole("tab", { name: "Tree" }).click();
  const family = page.getByRole("list", { name: "Family of this session" });
  await family.getByRole("link", { name: /say I am the child/ }).waitFor();
  await family.getByText("I am the child", { exact: true }).waitFor();

  await send(page, "say the second part");
  await said(page, "the second part");
  await idle(page);
  await page.getByRole("tab", { name: "Turns" }).click();
  const parent = page.url();
  await page.getByRole("button", { name: "Fork after turn 1" }).click();
  await page.waitForURL((url) => url.pathname !== new URL(parent).pathname);
  // The new session has the transcript up to there, and goes its own way.
  await said(page, "the beginning");
  expect(await conversation(page).getByText("the second part").count()).toBe(0);
  await send(page, "say another way");
  await conversation(page).getByRole("article").filter({ hasText: "Agent" }).getByText(/another way/).last().waitFor();
  await page.goto(parent);
  await said(page, "the second part");
  expect(await conversation(page).getByText("another way").count()).toBe(0);
  expect(troubles).toEqual([]);
});

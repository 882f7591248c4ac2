import type { Page } from "playwright-core";
import { expect, test } from "vitest";

import { visit } from "./browser";
import { stage } from "./stage";

const on = stage();

/** Confirms a deletion that the server refuses at first, and returns what the dialog says about it. */
async function deleteInUse(page: Page, title: string): Promise<string> {
  const dialog = page.getByRole("dialog", { name: title });
  await dialog.getByRole("button", { name: "Delete", exact: true }).click();
  const anyway = dialog.getByRole("button", { name: "Delete anyway" });
  await anyway.waitFor();
  const told = await dialog.innerText();
  await anyway.click();
  await dialog.waitFor({ state: "detached" });
  return told;
}

/** The refused request is reported by the browser, and nothing else is. */
const besideRefusals = (troubles: string[]) => troubles.filter((trouble) => !trouble.includes("409"));

/** Begins a session of the built-in agent on the command line and waits for it. */
async function work(...more: string[]): Promise<void> {
  const begun = await on.server.cli("run", "--agent", "echo", "--detach", "--json", "write made.txt by hand", ...more);
  await on.server.cli("wait", (JSON.parse(begun) as { id: string }).id);
}

test("a board and a repository that are in use are deleted after saying what goes", async () => {
  const key = await on.server.key();
  const board = await on.server.rest(key, "POST", "/boards", { name: "Parser" });
  const repo = await on.server.repo();
  await on.server.rest(key, "POST", "/repos", { source: repo, name: "app", tier: "guarded" });
  await work("--repo", "app", "--board", String(board.id));
  const { page, troubles } = await visit(on.browser, on.server);
  await page.getByRole("link", { name: "Boards", exact: true }).click();
  await page.getByRole("button", { name: "Delete the board Parser" }).click();
  const ofBoard = await deleteInUse(page, "Delete the board Parser?");
  expect(ofBoard).toMatch(/in use by 1 session \(/);
  expect(ofBoard).toContain("stay without a board");
  await page.getByText("No boards yet").waitFor();

  await page.getByRole("link", { name: "Settings" }).click();
  const repos = page.getByRole("region", { name: "Repositories" });
  await repos.getByRole("row", { name: new RegExp(`^app ${repo} guarded 1`) }).waitFor();
  await repos.getByRole("button", { name: "Delete the repository app" }).click();
  const ofRepo = await deleteInUse(page, "Delete the repository app?");
  expect(ofRepo).toMatch(/1 session \(.*1 worktree \(/);
  await repos.getByText("No repositories yet").waitFor();
  expect(await on.server.git(repo, "for-each-ref", "refs/wheelhouse/rescue")).not.toBe("");
  expect(besideRefusals(troubles)).toEqual([]);
});

test("a user is deleted after saying what goes, and what the user owned is taken over", async () => {
  await on.server.cli("user", "create", "mia");
  const made = await on.server.cli("key", "create", "--user", "mia", "--scope", "full", "--name", "hers", "--json");
  const hers = (JSON.parse(made) as { key: string }).key;
  await on.server.rest(hers, "POST", "/boards", { name: "Hers" });
  const { page, troubles } = await visit(on.browser, on.server);
  await page.getByRole("link", { name: "Users" }).click();
  // Nobody deletes themselves.
  const own = page.getByRole("row", { name: /\byou\b/ });
  await own.getByRole("button", { name: /^More about/ }).click();
  await page.getByRole("menuitem", { name: "Disable" }).waitFor();
  expect(await page.getByRole("menuitem", { name: "Delete" }).count()).toBe(0);
  await page.keyboard.press("Escape");
  const row = page.getByRole("row", { name: /^mia/ });
  await row.getByRole("button", { name: "More about mia" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  const told = await deleteInUse(page, "Delete the user mia?");
  expect(told).toMatch(/1 board \(.*1 key \(/);
  expect(told).toContain("becomes yours");
  await row.waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Boards", exact: true }).click();
  await page.getByRole("link", { name: /^Hers/ }).waitFor();
  const answer = await fetch(`${on.server.url}/api/v1/whoami`, { headers: { authorization: `Bearer ${hers}` } });
  expect(answer.status).toBe(401);
  expect(besideRefusals(troubles)).toEqual([]);
});

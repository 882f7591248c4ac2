import { expect, test } from "vitest";

import { conversation, idle, inState, said, send, startSession, visit } from "./browser";
import { stage } from "./stage";

const on = stage();

test("a child is spawned and watched in the tree", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  await startSession(page, "say I am the parent");
  await idle(page);
  await page.getByRole("tab", { name: "Tree" }).click();
  await page.getByLabel(/^Begin a child/).fill("say I am the child");
  await page.getByLabel("Tell this session when it is done").check();
  await page.getByRole("button", { name: "Spawn" }).click();
  const family = page.getByRole("list", { name: "Family of this session" });
  await family.getByText("I am the child", { exact: true }).waitFor();
  // The child's end is a prompt for the parent.
  await expect.poll(() => conversation(page).getByText("I am the child").count(), { timeout: 15_000 }).toBeGreaterThan(0);
  await family.getByRole("link", { name: "say I am the child" }).click();
  await said(page, "I am the child");
  expect(troubles).toEqual([]);
});

test("a session is renamed, everywhere at once, and shows what applies to it", async () => {
  const one = await visit(on.browser, on.server);
  const other = await visit(on.browser, on.server);
  await startSession(one.page, "say old name");
  await other.page.getByRole("link", { name: /say old name/ }).waitFor();
  await one.page.getByRole("tab", { name: "Settings" }).click();
  const settings = one.page.getByRole("tabpanel", { name: "Settings" });
  await settings.getByText("not limited").waitFor();
  // As the agent said when the conversation began.
  await settings.getByRole("term").filter({ hasText: /^Mode$/ }).locator("+ dd").getByText("default", { exact: true }).waitFor();
  await settings.getByLabel("Title").fill("A better name");
  await settings.getByRole("button", { name: "Rename" }).click();
  await one.page.getByRole("heading", { name: "A better name" }).waitFor();
  await other.page.getByRole("link", { name: /A better name/ }).waitFor();
  expect([...one.troubles, ...other.troubles]).toEqual([]);
});

test("work is merged from the diff, with or without what is not committed, or refused with the reason", async () => {
  const repo = await on.server.repo();
  const { page, troubles } = await visit(on.browser, on.server);
  const other = await visit(on.browser, on.server);
  const card = (column: RegExp) => other.page.getByRole("region", { name: column }).getByRole("link", { name: /write merged.txt/ });
  await startSession(page, "write merged.txt yes\ncommit add a file\nwrite later.txt no", repo);
  await idle(page);
  const diff = page.getByRole("tabpanel", { name: "Diff" });
  const dialog = page.getByRole("dialog", { name: "Merge this branch" });
  const open = () => diff.getByRole("button", { name: "Merge…" }).click();
  await open();
  await dialog.getByText("later.txt").waitFor();
  await dialog.getByLabel("Leave uncommitted files in the worktree").check();
  expect(await dialog.getByLabel(/^Remove worktree and branch/).isDisabled()).toBe(true);
  await dialog.getByRole("button", { name: "Merge", exact: true }).click();
  await page.getByText("Merged: main was fast-forwarded").first().waitFor();
  expect(await on.server.git(repo, "ls-tree", "--name-only", "main")).toBe("README.md\nmerged.txt");

  await open();
  const commit = dialog.getByRole("button", { name: "Commit and merge" });
  expect(await commit.isDisabled()).toBe(true);
  await dialog.getByLabel("Commit message").fill("Keep the rest");
  await dialog.getByLabel(/^Into/).fill("next");
  await commit.click();
  // There is no such branch, so nothing is committed either.
  await dialog.getByRole("alert").waitFor();
  await dialog.getByText("1 uncommitted file").waitFor();
  await dialog.getByLabel(/^Into/).fill("main");
  await commit.click();
  await dialog.waitFor({ state: "detached" });
  await card(/^Done/).waitFor();
  expect(await on.server.git(repo, "log", "-1", "--format=%s", "main")).toBe("Keep the rest");
  expect([...troubles, ...other.troubles]).toEqual([]);
});

test("a merge commits the rest and removes the worktree and its branch", async () => {
  const repo = await on.server.repo("removed");
  const { page, troubles } = await visit(on.browser, on.server);
  await startSession(page, "write kept.txt yes", repo);
  await idle(page);
  await page.getByRole("tabpanel", { name: "Diff" }).getByRole("button", { name: "Merge…" }).click();
  const dialog = page.getByRole("dialog", { name: "Merge this branch" });
  await dialog.getByLabel("Commit message").fill("Add a file");
  await dialog.getByLabel(/^Remove worktree and branch/).check();
  await dialog.getByRole("button", { name: "Commit and merge" }).click();
  await page.getByText("The worktree and its branch were removed.").first().waitFor();
  await page.getByRole("group", { name: "About this session" }).getByText("archived", { exact: true }).waitFor();
  expect(await on.server.git(repo, "log", "-1", "--format=%s %an", "main")).toBe("Add a file admin");
  expect(await on.server.git(repo, "for-each-ref", "--format=%(refname:short)", "refs/heads")).toBe("main");
  expect((await on.server.git(repo, "worktree", "list")).split("\n")).toHaveLength(1);
  expect(troubles).toEqual([]);
});

test("words are found in every conversation, and the message is shown", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  await startSession(page, "say the quick brown xylophone");
  await idle(page);
  await page.getByRole("link", { name: "Search" }).click();
  await page.getByRole("searchbox").fill("brown xylophone");
  await page.keyboard.press("Enter");
  await page.getByRole("list", { name: "Found messages" }).getByRole("link", { name: /agent/ }).first().click();
  await page.waitForURL(/at=\d+/);
  await conversation(page).locator("[aria-current=true]").getByText("the quick brown xylophone").waitFor();
  expect(troubles).toEqual([]);
});

test("agents and the audit log are listed", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  await page.getByRole("link", { name: "Agents" }).click();
  await page.getByRole("list", { name: "Agents" }).getByText("echo", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Audit" }).click();
  await page.getByLabel("Operation").fill("whoami");
  await page.getByRole("button", { name: "Show" }).click();
  await expect
    .poll(() => page.getByRole("row").getByText("session_create", { exact: true }).count(), { timeout: 10_000 })
    .toBe(0);
  await page.getByRole("row").getByText("whoami", { exact: true }).first().waitFor();
  expect(troubles).toEqual([]);
});

test("a person and an agent work on one list of tasks", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  await startSession(page, "say planning");
  await idle(page);
  await page.getByRole("tab", { name: "Tasks" }).click();
  await page.getByText("No tasks yet").waitFor();
  await page.getByLabel("New task").fill("write the parser");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  const tasks = page.getByRole("list", { name: "Tasks" });
  await tasks.getByText("write the parser").waitFor();
  await send(page, 'call task_add {"tasks": [{"content": "test the parser", "depends_on": ["1"]}]}');
  await tasks.getByText("test the parser").waitFor();
  await page.getByLabel("Status of task 1").selectOption("completed");
  await page.getByText("1 of 2 done").waitFor();
  await send(page, 'call note_add {"notes": [{"kind": "tip", "content": "the grammar is in docs"}]}');
  await page.getByRole("region", { name: "Notes" }).getByText("the grammar is in docs").waitFor();
  expect(troubles).toEqual([]);
});

test("a session is stopped, archived and deleted, and who looks at it is told", async () => {
  const one = await visit(on.browser, on.server);
  const other = await visit(on.browser, on.server);
  await startSession(one.page, "say soon gone");
  await idle(one.page);
  await other.page.goto(one.page.url());
  await said(other.page, "soon gone");
  await one.page.getByRole("button", { name: "Stop" }).click();
  await inState(other.page, "stopped");
  await one.page.getByRole("button", { name: "More actions" }).click();
  await one.page.getByRole("menuitem", { name: "Archive" }).click();
  await inState(other.page, "archived");
  await one.page.getByRole("button", { name: "More actions" }).click();
  await one.page.getByRole("menuitem", { name: "Delete…" }).click();
  await one.page.getByRole("dialog", { name: "Delete this session?" }).getByRole("button", { name: "Delete" }).click();
  await one.page.waitForURL((url) => url.pathname === "/");
  await other.page.getByRole("alert").getByText(/not found|no such/).waitFor();
  expect([...one.troubles, ...other.troubles]).toEqual([]);
});

test("the progress of a loop is seen, and it is paused, resumed and stopped", async () => {
  const key = await on.server.key();
  const repo = await on.server.rest(key, "POST", "/repos", { source: await on.server.repo("looped") });
  const template = [
    'call task_next {"claim": true}',
    "{{ next.content }}",
    'call task_update {"task": "{{ next.number }}", "status": "completed"}',
    'call iteration_summary {"summary": "did {{ next.number }}"}',
  ].join("\n");
  const tasks = ["write one.txt 1", "sleep 2", "sleep 600"].map((content) => ({ content }));
  const { page, troubles } = await visit(on.browser, on.server);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await on.server.rest(key, "POST", "/loops", { agent: "echo", repo: repo.id, spec: "Do it all", template, tasks });
  const loop = page.getByRole("article", { name: "Loop Do it all" });
  await loop.getByText(/1 of 3 tasks done/).waitFor();
  await loop.getByRole("button", { name: "Pause" }).click();
  await loop.getByRole("button", { name: "Resume" }).click();
  await loop.getByText(/2 of 3 tasks done/).waitFor();
  await loop.getByRole("button", { name: "Stop" }).click();
  await loop.waitFor({ state: "detached" });
  expect(troubles).toEqual([]);
});

test("an idle session is stopped and deleted in one step", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  await startSession(page, "say goodbye then");
  await said(page, "goodbye then");
  await idle(page);
  const id = new URL(page.url()).pathname.slice(-8);
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Delete…" }).click();
  await page.getByRole("dialog", { name: "Delete this session?" }).getByRole("button", { name: "Delete" }).click();
  await page.getByText("The session is deleted").first().waitFor();
  await page.waitForURL(`${on.server.url}/`);
  await expect(on.server.rest(await on.server.key(), "GET", `/sessions/${id}`)).rejects.toThrow("NOT_FOUND");
  expect(troubles).toEqual([]);
});

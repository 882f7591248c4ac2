import { expect, test } from "vitest";

import { idle, said, send, visit } from "./browser";
import { stage } from "./stage";

const on = stage();

test("what others share is seen as it happens, and gone when it is taken back", async () => {
  await on.server.cli("user", "create", "bob", "--role", "member");
  const key = await on.server.key();
  const board = String((await on.server.rest(key, "POST", "/boards", { name: "Ours" })).id);
  const { page, troubles } = await visit(on.browser, on.server, "bob");
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Boards" }).click();
  await page.getByRole("heading", { level: 1, name: "Boards" }).waitFor();

  const owner = await visit(on.browser, on.server);
  await owner.page.goto(`${on.server.url}/boards/${board.slice(-8)}`);
  await owner.page.getByRole("button", { name: "Share" }).click();
  const dialog = owner.page.getByRole("dialog", { name: "Share the board" });
  await dialog.getByText("Nobody else sees it yet").waitFor();
  await dialog.getByLabel("Name of a user, or everyone").fill("nobody");
  await dialog.getByRole("button", { name: "Share" }).click();
  await dialog.getByRole("alert").waitFor();
  expect(await dialog.getByLabel("Name of a user, or everyone").inputValue()).toBe("nobody");
  await dialog.getByLabel("Name of a user, or everyone").fill("bob");
  await dialog.getByLabel("What they may do").selectOption("prompt");
  await dialog.getByRole("button", { name: "Share" }).click();
  const level = dialog.getByLabel("What bob may do");
  await level.waitFor();
  await page.getByRole("link", { name: /Ours/ }).click();
  await page.getByText("What its owner puts on it appears here.").waitFor();
  const begun = { agent: "echo", title: "together", prompt: "say hello to both", board };
  const session = String((await on.server.rest(key, "POST", "/sessions", begun)).id);
  await page.getByRole("region", { name: "Not placed yet" }).getByRole("link", { name: "together" }).waitFor();
  await on.server.cli("board", "place", board, "--session", session, "--x", "40", "--y", "40");
  const card = page.getByRole("article", { name: "Session together" });
  await card.getByText("hello to both").waitFor();

  await card.getByRole("link", { name: "together" }).click();
  await idle(page);
  await page.getByText("shared with you to prompt").waitFor();
  await on.server.cli("send", session, "say from the owner");
  await said(page, "from the owner");
  await send(page, "say from the guest");
  await said(page, "from the guest");
  expect(await page.getByRole("button", { name: "Stop" }).isDisabled()).toBe(true);
  expect(await page.getByRole("tab").allInnerTexts()).toEqual(["Turns", "Tree"]);

  await level.selectOption("read");
  await page.getByPlaceholder("It is shared with you to read.").waitFor();
  await page.goBack();
  await card.waitFor();
  await dialog.getByRole("button", { name: "Stop sharing with bob" }).click();
  await page.getByRole("alert").filter({ hasText: "board" }).waitFor();
  await card.waitFor({ state: "detached" });
  await dialog.getByText("Nobody else sees it yet").waitFor();
  expect([...troubles, ...owner.troubles]).toEqual([]);
});

test("a guest sees the cards of worktrees on a shared board, and reads the sessions in them", async () => {
  await on.server.cli("user", "create", "carol", "--role", "member");
  const key = await on.server.key();
  const repo = await on.server.rest(key, "POST", "/repos", { source: await on.server.repo("lent") });
  const board = String((await on.server.rest(key, "POST", "/boards", { name: "Trees" })).id);
  const begun = { agent: "echo", title: "in the tree", prompt: "say hello from the tree", repo: repo.id, branch: "wh/lent" };
  const made = await on.server.rest(key, "POST", "/sessions", begun);
  const place = [{ kind: "worktree", id: made.worktree_id, x: 40, y: 40 }];
  await on.server.rest(key, "PATCH", `/boards/${board}`, { place });
  await on.server.rest(key, "PUT", `/boards/${board}/shares`, { with: "carol", level: "read" });

  const { page, troubles } = await visit(on.browser, on.server, "carol");
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.goto(`${on.server.url}/boards/${board.slice(-8)}`);
  const card = page.getByRole("article", { name: /^Worktree/ });
  await card.getByText("wh/lent").waitFor();
  await card.getByText("lent", { exact: true }).waitFor();
  await card.getByRole("link", { name: /in the tree/ }).getByText("hello from the tree").waitFor();
  await card.getByRole("link", { name: /in the tree/ }).click();
  await said(page, "hello from the tree");
  await page.getByPlaceholder("It is shared with you to read.").waitFor();
  // The worktree itself stays closed.
  expect(await page.getByRole("tab").allInnerTexts()).toEqual(["Turns", "Tree"]);
  const own = await page.request.get(`${on.server.url}/api/v1/worktrees/${String(made.worktree_id)}`);
  expect(own.status()).toBe(404);
  expect(troubles).toEqual([]);
});

import type { Page } from "playwright-core";
import { expect, test } from "vitest";

import { idle, said, visit } from "./browser";
import { add, begin, box, card, drag, makeZone, middle, zone } from "./on-board";
import { stage } from "./stage";

const on = stage();

test("a card is dragged into a zone, or moved by its menu, and the zone's prompt runs", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  const session = await begin(on.server, page, "Fix the parser", "Work");
  await makeZone(page, "Review", "say reviewing {{ session.title }}");
  await makeZone(page, "Ship", "say shipping from {{ zone.name }}");
  await add(page, "Fix the parser");
  await card(page, "Fix the parser").waitFor();
  await page.getByRole("button", { name: "Show everything" }).click();
  await zone(page, "Review").getByText("0 items").waitFor();

  await drag(page, await middle(card(page, "Fix the parser")), await middle(zone(page, "Review")));
  await page.getByText("Moved to Review").first().waitFor();
  await zone(page, "Review").getByText("1 item", { exact: true }).waitFor();
  await card(page, "Fix the parser").getByText("reviewing Fix the parser").waitFor();

  // The same with keys alone.
  await page.getByRole("button", { name: "What to do with Fix the parser" }).focus();
  await page.keyboard.press("Enter");
  await page.locator("[role=menuitem]:focus", { hasText: "Move to zone Ship" }).waitFor();
  await page.keyboard.press("Enter");
  await zone(page, "Ship").getByText("1 item", { exact: true }).waitFor();
  await card(page, "Fix the parser").getByText("shipping from Ship").waitFor();
  // Moving within a zone prompts nobody.
  const at = await middle(card(page, "Fix the parser"));
  await drag(page, at, { x: at.x + 20, y: at.y + 20 });

  await card(page, "Fix the parser").getByRole("link").click();
  await page.waitForURL(new RegExp(`/sessions/${session}`));
  await said(page, "reviewing Fix the parser");
  await said(page, "shipping from Ship");
  await idle(page);
  await page.getByRole("tab", { name: "Turns" }).click();
  expect(await page.getByRole("list", { name: "Turns" }).getByRole("listitem").count()).toBe(3);
  expect(troubles).toEqual([]);
});

test("two browsers see each other's zones and placements, and neither overwrites the other", async () => {
  const one = await visit(on.browser, on.server);
  const other = await visit(on.browser, on.server);
  await begin(on.server, one.page, "Shared work", "Together");
  await other.page.goto(one.page.url());
  await makeZone(one.page, "Doing", "");
  await zone(other.page, "Doing").waitFor();
  await add(other.page, "Shared work");
  await card(one.page, "Shared work").waitFor();
  const show = (page: Page) => page.getByRole("button", { name: "Show everything" }).click();
  await Promise.all([show(one.page), show(other.page)]);

  await drag(one.page, await middle(card(one.page, "Shared work")), await middle(zone(one.page, "Doing")));
  await zone(other.page, "Doing").getByText("1 item", { exact: true }).waitFor();

  // A zone is moved by its name, and what lies in it comes along.
  await Promise.all([show(one.page), show(other.page)]);
  const before = await box(card(one.page, "Shared work"));
  const grip = await box(zone(other.page, "Doing").getByRole("heading"));
  const hold = { x: grip.x + 20, y: grip.y + grip.height / 2 };
  await drag(other.page, hold, { x: hold.x + 150, y: hold.y + 60 });
  await expect.poll(async () => Math.round((await box(card(one.page, "Shared work"))).x - before.x), { timeout: 10_000 }).toBeGreaterThan(80);
  await zone(one.page, "Doing").getByText("1 item", { exact: true }).waitFor();

  // Its corner makes it larger.
  const small = await box(zone(one.page, "Doing"));
  const corner = await middle(other.page.locator(".zone-handle.bottom.right"));
  await drag(other.page, corner, { x: corner.x + 90, y: corner.y + 50 });
  await expect.poll(async () => (await box(zone(one.page, "Doing"))).width - small.width, { timeout: 10_000 }).toBeGreaterThan(40);

  // Two people change the same zone: what each changed is kept, and who comes second is told.
  const edit = async (page: Page) => {
    await page.getByRole("button", { name: "What to do with zone Doing" }).click();
    await page.getByRole("menuitem", { name: "Edit zone…" }).click();
  };
  await edit(one.page);
  await edit(other.page);
  await other.page.getByLabel(/^Prompt/).fill("say theirs");
  await other.page.getByRole("button", { name: "Save zone" }).click();
  await one.page.getByText("Changed by somebody else meanwhile: prompt.").waitFor();
  await one.page.getByLabel("Name", { exact: true }).fill("Done");
  await one.page.getByRole("button", { name: "Save zone" }).click();
  await zone(other.page, "Done").getByText("prompts what is placed here").waitFor({ state: "attached" });

  // What is refused is said, and the card is shown where it really is.
  await one.page.getByRole("button", { name: "What to do with zone Done" }).click();
  await one.page.getByRole("menuitem", { name: "Delete zone…" }).click();
  await one.page.getByRole("dialog").getByRole("button", { name: "Delete zone" }).click();
  await zone(other.page, "Done").waitFor({ state: "detached" });
  await card(other.page, "Shared work").waitFor();
  expect([...one.troubles, ...other.troubles]).toEqual([]);
});

test("a change that is refused is said, and the card goes back", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  await begin(on.server, page, "Stays here", "Refusals");
  await makeZone(page, "Closed", "say hello");
  await add(page, "Stays here");
  await page.getByRole("button", { name: "Show everything" }).click();
  await page.route("**/api/v1/boards/*", (route) =>
    route.request().method() === "PATCH"
      ? route.fulfill({ status: 409, json: { error: { code: "CONFLICT", message: "the board was changed meanwhile", hint: "try again" } } })
      : route.fallback(),
  );
  const before = await middle(card(page, "Stays here"));
  await drag(page, before, await middle(zone(page, "Closed")));
  await page.getByText("the board was changed meanwhile").first().waitFor();
  await expect.poll(async () => Math.round((await middle(card(page, "Stays here"))).x - before.x)).toBe(0);
  await page.unroute("**/api/v1/boards/*");
  await drag(page, before, await middle(zone(page, "Closed")));
  await card(page, "Stays here").getByText("hello").waitFor();
  expect(troubles).toEqual([]);
});

test("a worktree brings its sessions, and the status view shows the same cards", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  const key = await on.server.key();
  const repo = await on.server.rest(key, "POST", "/repos", { source: await on.server.repo("on-a-board") });
  await begin(on.server, page, "Not on it", "Branches");
  const prompt = "write lines.txt one\ncommit all of it\nsay committed";
  const board = new URL(page.url()).pathname.split("/").pop();
  await on.server.rest(key, "POST", "/sessions", { agent: "echo", title: "In a branch", branch: "wh/on-a-board", repo: repo.id, prompt });
  await on.server.rest(key, "POST", "/sessions", { agent: "echo", title: "Belongs here", board, prompt: "say hello" });
  await page.getByRole("region", { name: "Not placed yet" }).getByText("Belongs here").waitFor();
  await add(page, "In a branch", "Worktrees");
  const worktree = page.getByRole("article", { name: /^Worktree/ });
  await worktree.getByText("wh/on-a-board").waitFor();
  await worktree.getByText("+1").waitFor();
  await worktree.getByRole("link", { name: /In a branch/ }).getByText("committed").waitFor();

  await page.getByRole("link", { name: "Status" }).click();
  await page.getByRole("region", { name: /^Ready to merge/ }).getByRole("link", { name: /In a branch.*\+1/ }).waitFor();
  await page.getByRole("region", { name: /^Ready \d/ }).getByRole("link", { name: /Belongs here/ }).waitFor();
  expect(await page.getByText("Not on it").count()).toBe(0);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`${on.server.url}/boards/${board}`);
  await page.getByRole("region", { name: /^Ready to merge/ }).waitFor();
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  expect(overflow).toBeLessThanOrEqual(0);
  expect(troubles).toEqual([]);
});

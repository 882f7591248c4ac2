import type { Page } from "playwright-core";
import { expect, test } from "vitest";

import { idle, said, visit } from "./browser";
import { add, begin, box, card, drag, makeZone, middle, zone } from "./on-board";
import { stage } from "./stage";

const on = stage();

const undo = (page: Page, title: string) => page.getByRole("button", { name: `Undo the move of ${title}` });

/** How many turns a session has had. */
async function turns(session: string): Promise<number> {
  const { turns } = await on.server.rest(await on.server.key(), "GET", `/sessions/${session}/turns`);
  return (turns as unknown[]).length;
}

test("cards that are added cover no other", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  await begin(on.server, page, "First of all", "Apart");
  const key = await on.server.key();
  const repo = await on.server.rest(key, "POST", "/repos", { source: await on.server.repo("apart") });
  const long = (n: number) => `Session ${n} whose title is so long that it takes all the lines that a card has for it, and then some more`;
  const prompt = "say words that fill the card, and more words that fill the card, and even more of them, so that it is as high as it gets";
  for (const n of [1, 2, 3]) {
    await on.server.rest(key, "POST", "/sessions", { agent: "echo", title: long(n), prompt });
  }
  const made = await on.server.rest(key, "POST", "/sessions", { agent: "echo", title: "In the tree", branch: "wh/apart", repo: repo.id, prompt });
  await on.server.rest(key, "POST", "/sessions", { agent: "echo", title: "Also in the tree", worktree: made.worktree_id, prompt });
  await add(page, "In the tree", "Worktrees");
  await page.getByRole("article", { name: /^Worktree/ }).getByRole("link", { name: /Also in the tree/ }).waitFor();
  for (const title of ["First of all", long(1), long(2), long(3)]) {
    await add(page, title);
    await card(page, title).waitFor();
  }
  await page.getByRole("button", { name: "Show everything" }).click();
  const boxes: Awaited<ReturnType<typeof box>>[] = [];
  for (const one of await page.getByRole("article").all()) boxes.push(await box(one));
  expect(boxes.length).toBe(5);
  boxes.forEach((a, index) =>
    boxes.slice(index + 1).forEach((b) => {
      const apart = a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
      expect(apart, JSON.stringify([a, b])).toBe(true);
    }),
  );
  expect(troubles).toEqual([]);
});

test("a drop into a zone is undone before its prompt is sent", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  const session = await begin(on.server, page, "Not this one", "Mistakes");
  await makeZone(page, "Review", "say reviewing {{ session.title }}");
  await add(page, "Not this one");
  await page.getByRole("button", { name: "Show everything" }).click();
  const before = await middle(card(page, "Not this one"));
  await drag(page, before, await middle(zone(page, "Review")));
  await zone(page, "Review").getByText("1 item", { exact: true }).waitFor();
  await undo(page, "Not this one").click();
  await zone(page, "Review").getByText("0 items").waitFor();
  await expect.poll(async () => Math.round((await middle(card(page, "Not this one"))).x - before.x)).toBe(0);
  const board = new URL(page.url()).pathname.split("/").pop() ?? "";
  const kept = (await on.server.rest(await on.server.key(), "GET", `/boards/${board}`)) as { items: { zone_id?: string }[] };
  expect(kept.items.map((item) => item.zone_id ?? null)).toEqual([null]);

  // What is not undone happens, also by the menu, and once.
  await page.getByRole("button", { name: "What to do with Not this one" }).click();
  await page.getByRole("menuitem", { name: "Move to zone Review" }).click();
  await undo(page, "Not this one").waitFor();
  await card(page, "Not this one").getByText("reviewing Not this one").waitFor();
  await undo(page, "Not this one").waitFor({ state: "detached" });
  expect(await turns(session)).toBe(2);
  expect(troubles).toEqual([]);
});

test("a drop that can still be undone is saved when the page is reloaded", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  const session = await begin(on.server, page, "Keep me", "Reloads");
  await makeZone(page, "Review", "say reviewing {{ session.title }}");
  await add(page, "Keep me");
  await page.getByRole("button", { name: "What to do with Keep me" }).click();
  await page.getByRole("menuitem", { name: "Move to zone Review" }).click();
  await undo(page, "Keep me").waitFor();
  await page.reload();
  await card(page, "Keep me").getByText("reviewing Keep me").waitFor();
  await zone(page, "Review").getByText("1 item", { exact: true }).waitFor();
  expect(await turns(session)).toBe(2);
  expect(troubles).toEqual([]);
});

test("somebody is asked before a zone starts an agent", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  await begin(on.server, page, "Elsewhere", "Starts");
  const key = await on.server.key();
  const repo = await on.server.rest(key, "POST", "/repos", { source: await on.server.repo("starts") });
  await on.server.rest(key, "POST", "/worktrees", { repo: repo.id, name: "lonely" });
  const board = new URL(page.url()).pathname.split("/").pop() ?? "";
  const build = { name: "Build", x: 0, y: 0, width: 420, height: 320, prompt_template: "say building {{ worktree.name }}", agent: "echo" };
  await on.server.rest(key, "PATCH", `/boards/${board}`, { zones: [build] });
  await add(page, "lonely", "Worktrees");
  await page.getByRole("button", { name: "Show everything" }).click();
  const worktree = page.getByRole("article", { name: "Worktree lonely" });
  await drag(page, await middle(worktree), await middle(zone(page, "Build")));
  const question = page.getByRole("dialog", { name: "Start echo in lonely?" });
  await question.getByRole("button", { name: "Cancel" }).click();
  await zone(page, "Build").getByText("0 items").waitFor();
  await worktree.getByText("No session works here.").waitFor();

  await drag(page, await middle(worktree), await middle(zone(page, "Build")));
  await question.getByRole("button", { name: "Start session" }).click();
  await worktree.getByRole("link").click();
  await said(page, "building lonely");
  await idle(page);
  expect(troubles).toEqual([]);
});

import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";

import type { Page } from "playwright-core";
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

/** Begins a session, puts files into its worktree, and returns the pane that shows them. */
async function paneWith(page: Page, repo: string, files: Record<string, string>) {
  await startSession(page, "say ready", await on.server.repo(repo));
  await idle(page);
  const key = await on.server.key();
  const session = await on.server.rest(key, "GET", `/sessions/${new URL(page.url()).pathname.split("/").at(-1) ?? ""}`);
  const worktree = await on.server.rest(key, "GET", `/worktrees/${String(session.worktree_id)}`);
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(String(worktree.path), name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  const pane = page.getByRole("tabpanel", { name: "Diff" });
  await page.getByRole("tab", { name: "Diff" }).click();
  await pane.getByRole("button", { name: "Read the diff again" }).click();
  const changes = pane.getByRole("region", { name: "Changes" });
  /** Waits until the beginning of a file's diff is seen. */
  const inView = (file: string) =>
    expect
      .poll(async () => {
        const [box, around] = await Promise.all([pane.getByRole("group", { name: file, exact: true }).boundingBox(), changes.boundingBox()]);
        return box && around ? box.y > around.y - 5 && box.y < around.y + around.height - 30 : false;
      }, { timeout: 10_000 })
      .toBe(true);
  return { pane, tree: pane.getByRole("tree", { name: "Files" }), inView };
}

const LONG = Array.from({ length: 120 }, (_, line) => `line ${line}`).join("\n");

test("a file is picked in the tree by mouse and by keys, folded, and marked as viewed", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  await page.setViewportSize({ width: 1800, height: 900 });
  const { pane, tree, inView } = await paneWith(page, "tree", {
    "README.md": "uno",
    "src/app/main.ts": LONG,
    "src/app/util/text.ts": LONG,
    "web/page.ts": LONG,
  });
  const item = (name: RegExp) => tree.getByRole("treeitem", { name });
  await item(/^README.md modified, 1 added, 3 deleted$/).waitFor();
  expect(await item(/^src\/app 2 files/).getAttribute("aria-expanded")).toBe("true");
  await item(/^page.ts added, 120 added/).click();
  await inView("web/page.ts");

  await tree.focus();
  for (const key of ["Home", "ArrowDown", "ArrowRight", "Enter"]) {
    await page.keyboard.press(key);
  }
  await inView("src/app/main.ts");
  await expect.poll(() => item(/^main.ts/).getAttribute("aria-current")).toBe("true");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  expect(await item(/^src\/app/).getAttribute("aria-expanded")).toBe("false");
  await item(/^main.ts/).waitFor({ state: "detached" });
  await page.keyboard.press("Enter");

  await pane.getByRole("button", { name: "Comment on line 2 of src/app/main.ts", exact: true }).click();
  await pane.getByRole("textbox", { name: "Comment on src/app/main.ts, line 2" }).fill("hm");
  await pane.getByRole("button", { name: "Add comment" }).click();
  await item(/^main.ts .*1 comment not sent$/).waitFor();
  await item(/^src\/app .*1 comment not sent$/).waitFor();

  // What was viewed is folded, also after a reload, until it changes.
  await pane.getByLabel("Viewed src/app/main.ts").check();
  await item(/^main.ts .*viewed$/).waitFor();
  await page.reload();
  await item(/^main.ts .*viewed$/).waitFor();
  const heading = pane.getByRole("button", { name: "src/app/main.ts", exact: true });
  expect(await heading.getAttribute("aria-expanded")).toBe("false");
  await heading.click();
  await pane.getByText("hm", { exact: true }).waitFor();
  await send(page, "write src/app/main.ts shorter");
  await idle(page);
  await item(/^main.ts added, 1 added, 0 deleted, 1 comment not sent$/).waitFor();
  await pane.getByText("on line 2, which is not shown any more").waitFor();

  const besides = async () => ((await tree.boundingBox())?.x ?? 0) + 200 < ((await pane.getByRole("region", { name: "Changes" }).boundingBox())?.x ?? 0);
  await page.setViewportSize({ width: 1300, height: 900 });
  await expect.poll(besides).toBe(false);
  await page.getByRole("button", { name: "Wide pane" }).click();
  await expect.poll(besides).toBe(true);

  // Without room it stands above the diff, and on a phone it is folded away.
  await page.setViewportSize({ width: 390, height: 800 });
  await tree.waitFor({ state: "detached" });
  await pane.getByRole("button", { name: "Files" }).click();
  await item(/^page.ts/).click();
  await inView("web/page.ts");
  expect(troubles).toEqual([]);
});

test("of a thousand files only those that are seen are drawn, and any is found", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  const name = (number: number) => `part-${number % 10}/file-${String(number).padStart(4, "0")}.txt`;
  const files = Object.fromEntries(Array.from({ length: 1_000 }, (_, number) => [name(number), LONG.repeat(10)]));
  const hostile = "<img src=x onerror=window.pwned=1>\u202e.txt";
  const { pane, tree, inView } = await paneWith(page, "thousand", { ...files, [`zz/${hostile}`]: "x" });
  await pane.getByText("1001 files").waitFor();
  await pane.getByLabel("Filter files").fill("FILE-0997");
  await page.keyboard.press("Enter");
  await inView(name(997));
  await pane.getByRole("button", { name: `Comment on line 1 of ${name(997)}`, exact: true }).waitFor();
  await pane.getByLabel("Filter files").fill("img");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await inView("zz/<img src=x onerror=window.pwned=1>\u27e8202e\u27e9.txt");
  await pane.getByLabel("Filter files").fill("");
  expect(await pane.getByRole("group").count()).toBeLessThan(60);
  expect(await tree.getByRole("treeitem").count()).toBeLessThan(60);
  expect(await page.evaluate(() => (window as { pwned?: number }).pwned)).toBeUndefined();
  expect(troubles).toEqual([]);
});

test("a fork goes on from a turn, and the tree shows the family", async () => {
  const repo = await on.server.repo("family");
  const { page, troubles } = await visit(on.browser, on.server);
  await startSession(page, "say the beginning\nspawn say I am the child\nwrite draft.txt not committed", repo);
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
  // The new session has a title of its own, a link to where it came from, and the files that were not committed then.
  const header = page.getByRole("group", { name: "About this session" });
  await header.getByRole("heading", { name: "say the beginning (fork)" }).waitFor();
  await header.getByText("after turn 1").waitFor();
  expect(new URL(parent).pathname).toBe(await header.getByRole("link", { name: "say the beginning", exact: true }).getAttribute("href"));
  await page.getByRole("tab", { name: "Diff" }).click();
  await page.getByRole("tabpanel", { name: "Diff" }).getByText("1 file", { exact: true }).waitFor();
  await page.getByRole("tabpanel", { name: "Diff" }).getByText("not committed").first().waitFor();
  // It has the transcript up to there, and goes its own way.
  await said(page, "the beginning");
  expect(await conversation(page).getByText("the second part").count()).toBe(0);
  await send(page, "say another way");
  await conversation(page).getByRole("article").filter({ hasText: "Agent" }).getByText(/another way/).last().waitFor();
  await page.goto(parent);
  await said(page, "the second part");
  expect(await conversation(page).getByText("another way").count()).toBe(0);
  expect(troubles).toEqual([]);
});

import { gzipSync } from "node:zlib";

import type { Response } from "playwright-core";
import { afterAll, expect, test } from "vitest";

import { visit } from "../e2e/browser";
import { LONG_MESSAGES, readLong } from "../e2e/long";
import { addressOf, routes } from "../e2e/routes";
import { stage } from "../e2e/stage";
import { figures, handOver } from "./figure";
import { OpenBrowser } from "./open-browser";

const BUNDLE_KB_MAX = 350;
const OPEN_MS_MAX = 1_000;
const TASK_MS_MAX = 200;
const HEAP_MB_MAX = 150;
const SCORE_MIN = 95;

const on = stage({ messages: LONG_MESSAGES });

afterAll(handOver);

test("what the first page loads", async () => {
  const { context } = await visit(on.browser, on.server);
  const fresh = await on.browser.newContext({ storageState: await context.storageState() });
  const page = await fresh.newPage();
  const bodies: Promise<{ gzipped: number; sent: number }>[] = [];
  page.on("response", (response) => {
    if (["document", "script", "stylesheet"].includes(response.request().resourceType())) {
      bodies.push(sizes(response));
    }
  });
  await page.goto(on.server.url);
  await page.getByRole("heading", { level: 1, name: "Sessions" }).waitFor();
  await page.waitForLoadState("networkidle");
  const loaded = await Promise.all(bodies);
  const total = (part: "gzipped" | "sent") => loaded.reduce((sum, file) => sum + file[part], 0) / 1_000;
  figures.push({ name: `initial bundle, KB gzipped, ${bodies.length} files`, value: total("gzipped"), most: BUNDLE_KB_MAX });
  figures.push({ name: "initial bundle, KB as the server sent it", value: total("sent"), most: BUNDLE_KB_MAX });
  await fresh.close();
  await context.close();
});

async function sizes(response: Response) {
  const gzipped = gzipSync(await response.body()).length;
  return { gzipped, sent: (await response.request().sizes()).responseBodySize };
}

test("a long conversation", async () => {
  const visitor = await visit(on.browser, on.server);
  const { openedMs, openTaskMs, scrollTaskMs, heapMb } = await readLong(visitor, on.server);
  const of = `${LONG_MESSAGES} messages:`;
  figures.push({ name: `${of} opened, ms`, value: openedMs, most: OPEN_MS_MAX });
  figures.push({ name: `${of} longest task meanwhile, ms`, value: openTaskMs });
  figures.push({ name: `${of} longest task while scrolling, ms`, value: scrollTaskMs, most: TASK_MS_MAX });
  figures.push({ name: `${of} JS heap, MB`, value: heapMb, most: HEAP_MB_MAX });
  expect(visitor.troubles).toEqual([]);
  await visitor.context.close();
});

test("every page, as Lighthouse sees it", { timeout: 600_000 }, async () => {
  const key = await on.server.key();
  const { id } = await on.server.rest(key, "POST", "/repos", { source: await on.server.repo() });
  const begin = (prompt: string) => on.server.rest(key, "POST", "/sessions", { agent: "echo", repo: id, prompt });
  const session = await begin("say **bold** and `code`\nwrite README.md uno\nask may I?");
  await begin("question Which one?");
  const board = await on.server.rest(key, "POST", "/boards", { name: "Work", zones: [{ name: "Review", prompt_template: "say {{ zone.name }}" }] });
  const place = [
    { kind: "worktree", id: session.worktree_id, x: -300 },
    { kind: "session", id: session.id, x: -700 },
  ];
  await on.server.rest(key, "PATCH", `/boards/${String(board.id)}`, { place });
  const loop = await on.server.rest(key, "POST", "/loops", { agent: "echo", repo: id, spec: "Do it", template: "say done", tasks: [{ content: "one" }], iterations_max: 1 });
  const browser = await OpenBrowser.start(on.server);
  const { page } = browser;
  await page.goto(`${on.server.url}/inbox`);
  await page.getByRole("button", { name: "Allow once" }).waitFor();
  const ids = { session: String(session.short_id), board: String(board.short_id), loop: String(loop.short_id) };
  // On a screen of this size a board is a canvas; its other face is a page of its own.
  const pages = [...(await routes()), "/boards/$board?view=status"];
  for (const theme of ["light", "dark"]) {
    await page.evaluate((name) => localStorage.setItem("wheelhouse-theme", name), theme);
    const scores = await browser.accessibility(pages.map((route) => on.server.url + addressOf(route, ids)));
    scores.forEach(({ score, failed }, index) => {
      figures.push({ name: `Lighthouse accessibility, ${theme}, ${pages[index]}`, value: score, least: SCORE_MIN, about: failed.join(" ") });
    });
  }
  await browser.close();
});

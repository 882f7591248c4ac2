import { expect, test } from "vitest";

import { visit } from "./browser";
import { stage } from "./stage";

const FAILED = 5;
const SESSIONS = 260;

const on = stage({ sessions: SESSIONS, failed: FAILED });

test("what needs you is counted and shown, however old it is", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  await page.getByRole("link", { name: `Inbox ${FAILED} waiting` }).waitFor();
  const needed = page.getByRole("region", { name: `Needs you ${FAILED}` });
  await expect.poll(() => needed.getByRole("link").count()).toBe(FAILED);
  const idle = page.getByRole("region", { name: /^Ready \d/ });
  const total = (await on.server.rest(await on.server.key(), "GET", "/sessions/counts")) as { total: number; ready: number };
  expect(total.total).toBeGreaterThan(SESSIONS);
  await idle.getByRole("heading", { name: `Ready ${total.ready}` }).waitFor();

  await page.getByText(`Showing the 200 newest of ${total.total} sessions`).waitFor();
  await page.getByRole("button", { name: "Show older" }).click();
  await page.getByText("Showing the 200 newest").waitFor({ state: "detached" });
  await expect.poll(() => idle.getByRole("link").count()).toBe(total.ready);
  await page.getByText("not shown").waitFor({ state: "detached" });

  await page.getByRole("link", { name: `Inbox ${FAILED} waiting` }).click();
  const broken = page.getByRole("region", { name: "Failed or interrupted" });
  await expect.poll(() => broken.getByRole("link").count()).toBe(FAILED);
  await broken.getByRole("button", { name: "Archive An old failure (0)" }).click();
  await page.getByRole("link", { name: `Inbox ${FAILED - 1} waiting` }).waitFor();
  await expect.poll(() => page.title()).toBe(`(${FAILED - 1}) Inbox · Wheelhouse`);
  expect(troubles).toEqual([]);
});

test("the palette and the board's form find a session that is older than the newest 200", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  await page.getByRole("heading", { name: "Sessions", exact: true }).waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("failure old (1)");
  await page.getByRole("option", { name: "An old failure (1)" }).click();
  await page.waitForURL(/\/sessions\/[0-9a-f]{8}/);
  const id = new URL(page.url()).pathname.slice(-8);
  await page.keyboard.press("Control+k");
  await page.keyboard.type(id);
  await page.getByRole("option", { name: "An old failure (1)", selected: true }).waitFor();
  await page.keyboard.press("Escape");

  const board = await on.server.rest(await on.server.key(), "POST", "/boards", { name: "Old ones" });
  await page.goto(`${on.server.url}/boards/${String(board.short_id)}`);
  await page.getByRole("button", { name: "Add", exact: true }).click();
  const form = page.getByRole("dialog", { name: "Add to the board" });
  await form.getByPlaceholder("Find by name").fill("an old failure (2)");
  await form.getByRole("button", { name: "Add An old failure (2)" }).click();
  await form.getByRole("button", { name: "Add An old failure (2)" }).waitFor({ state: "detached" });
  expect(troubles).toEqual([]);
});

test("the command line lists them all, page by page, and finds one by its title", async () => {
  const list = async (...args: string[]) =>
    JSON.parse(await on.server.cli("ls", "--json", ...args)) as { sessions: { id: string }[]; next_cursor?: string };
  const seen = new Set<string>();
  let page = await list("--limit", "200");
  for (;;) {
    page.sessions.forEach(({ id }) => seen.add(id));
    if (!page.next_cursor) break;
    page = await list("--cursor", page.next_cursor);
  }
  const { total } = (await on.server.rest(await on.server.key(), "GET", "/sessions/counts")) as { total: number };
  expect(seen.size).toBe(total);
  expect((await list("--title", "OLD failure")).sessions.length).toBe(FAILED - 1);
});

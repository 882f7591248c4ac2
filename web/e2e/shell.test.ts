import { expect, test } from "vitest";

import { idle, startSession, visit } from "./browser";
import { stage } from "./stage";

const on = stage();

test("everything is reached by keys", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  await startSession(page, "say hello keyboard");
  await page.getByRole("link", { name: "All sessions" }).click();
  await page.getByRole("heading", { name: "Sessions", exact: true }).waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).getByText("Go anywhere").waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("g");
  await page.keyboard.press("i");
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("hello keyb");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/sessions\//);
  await idle(page);
  await page.keyboard.press(".");
  await page.keyboard.type("say typed");
  await page.keyboard.press("Enter");
  await page.getByRole("log").getByText("typed", { exact: true }).waitFor();
  const board = await on.server.rest(await on.server.key(), "POST", "/boards", { name: "Harbour" });
  await page.keyboard.press("Control+k");
  await page.keyboard.type("harb");
  await page.getByRole("option", { name: "Harbour", selected: true }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(`${on.server.url}/boards/${String(board.short_id)}`);
  expect(troubles).toEqual([]);
});

test("the palette chooses the best, also when it is read late", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  // Its letters fit the search too, far apart.
  await startSession(page, "say quiet salty");
  const session = page.url();
  const board = await on.server.rest(await on.server.key(), "POST", "/boards", { name: "Quayside" });
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route(/\/api\/v1\/boards\?/, async (route) => {
    await held;
    await route.continue();
  });
  await page.reload();
  await page.getByRole("log").waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("quay");
  await page.getByRole("option", { name: "say quiet salty", selected: true }).waitFor();
  release();
  await page.getByRole("option", { name: "Quayside", selected: true }).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.getByRole("option", { name: "say quiet salty", selected: true }).waitFor();
  expect(page.url()).toBe(session);
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${on.server.url}/boards/${String(board.short_id)}`);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("qqqq");
  await page.getByText("Nothing is called that.").waitFor();
  expect(troubles).toEqual([]);
});

test("the theme is kept, and a phone shows everything without scrolling sideways", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  await page.getByRole("button", { name: "Theme: system" }).click();
  await page.getByRole("button", { name: "Theme: light" }).click();
  await page.getByRole("button", { name: "Theme: dark" }).waitFor();
  expect(await page.locator("html").getAttribute("data-theme")).toBe("dark");
  await page.reload();
  await page.getByRole("button", { name: "Theme: dark" }).waitFor();

  await page.setViewportSize({ width: 390, height: 844 });
  for (const name of ["Sessions", "Boards", "Inbox", "New session", "Loops", "Search", "Agents", "Cost", "Keys", "Users", "Audit", "Settings"]) {
    const link = page.getByRole("navigation").getByRole("link", { name });
    if (await link.isVisible()) {
      await link.click();
    } else {
      await page.getByRole("navigation").getByRole("button", { name: "More" }).click();
      await page.getByRole("dialog", { name: "Command palette" }).getByRole("option", { name }).click();
    }
    await page.waitForURL((url) => url.pathname === (name === "Sessions" ? "/" : `/${name.split(" ")[0]?.toLowerCase() ?? ""}`));
    await page.getByRole("heading", { level: 1 }).waitFor();
    await expect.poll(() => page.getByText("Loading…").count()).toBe(0);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    expect(overflow, name).toBeLessThanOrEqual(0);
  }
  expect(troubles).toEqual([]);
});

test("what the page consists of comes compressed, and is kept", async () => {
  const document = await fetch(on.server.url, { headers: { "accept-encoding": "br" } });
  const [script = ""] = /\/assets\/[^"]+\.js/.exec(await document.text()) ?? [];
  for (const encoding of ["br", "gzip"]) {
    const answer = await fetch(on.server.url + script, { headers: { "accept-encoding": encoding } });
    const text = await answer.text();
    expect(answer.headers.get("content-encoding")).toBe(encoding);
    expect(Number(answer.headers.get("content-length"))).toBeLessThan(text.length / 2);
    expect(answer.headers.get("cache-control")).toContain("immutable");
  }
  const known = { "accept-encoding": "br", "if-none-match": document.headers.get("etag") ?? "" };
  expect((await fetch(on.server.url, { headers: known })).status).toBe(304);
});

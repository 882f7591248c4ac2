import axe, { type AxeResults } from "axe-core";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";

import { idle, startSession, visit } from "./browser";
import { addressOf, routes } from "./routes";
import { stage } from "./stage";

const on = stage();

/** What axe finds wrong with the page as it is: roles, names, order, contrast. Only the last depends on the theme. */
async function problems(page: Page, theme: string): Promise<string[]> {
  await page.evaluate(axe.source);
  const found = (await page.evaluate(theme === "dark" ? "axe.run({ runOnly: 'color-contrast' })" : "axe.run()")) as AxeResults;
  return found.violations.flatMap((rule) => rule.nodes.map((node) => `${rule.id}: ${node.html.slice(0, 150)} ${node.failureSummary ?? ""}`));
}

/** Runs a loop of one iteration. */
async function oneLoop(repo: string): Promise<string> {
  const template = 'call note_add {"notes": [{"kind": "tip", "content": "mind the gap"}]}\ncall iteration_summary {"summary": "did it"}';
  const body = { agent: "echo", repo, spec: "Do it", template, tasks: [{ content: "one" }], iterations_max: 1 };
  return String((await on.server.rest(await on.server.key(), "POST", "/loops", body)).short_id);
}

test.each(["light", "dark"])("every page can be used by everybody (%s)", async (theme) => {
  const repo = await on.server.repo(theme);
  const { page } = await visit(on.browser, on.server);
  await page.evaluate((name) => localStorage.setItem("wheelhouse-theme", name), theme);
  await page.reload();
  await startSession(page, "say **bold** and `code`\nwrite README.md uno\nwrite src/a.txt dos\nask may I?", repo);
  await page.getByRole("button", { name: "Allow once" }).waitFor();
  await page.getByRole("tabpanel", { name: "Diff" }).getByRole("treeitem", { name: /README.md/ }).waitFor();
  await page.getByRole("group", { name: "README.md" }).getByText("uno").waitFor();
  const found: Record<string, string[]> = { waiting: await problems(page, theme) };
  await page.getByRole("button", { name: "Allow once" }).click();
  await idle(page);
  for (const pane of ["Tree", "Turns", "Tasks", "Log", "Settings"]) {
    await page.getByRole("tab", { name: pane }).click();
    await page.getByRole("tabpanel", { name: pane }).locator("li, dl, form").first().waitFor();
    found[pane] = await problems(page, theme);
  }
  const key = await on.server.key();
  const template = "say {{ zone.name }}";
  const board = await on.server.rest(key, "POST", "/boards", { name: `Work ${theme}`, zones: [{ name: "Review", color: "#7c3aed", prompt_template: template }] });
  const session = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  const { worktree_id } = await on.server.rest(key, "GET", `/sessions/${session}`);
  const place = [
    { kind: "worktree", id: worktree_id, x: -300, y: 0 },
    { kind: "session", id: session, x: 20, y: 60 },
  ];
  await on.server.rest(key, "PATCH", `/boards/${String(board.id)}`, { place });
  const ids = { session, board: String(board.short_id), loop: await oneLoop(theme) };
  for (const route of await routes()) {
    await page.goto(on.server.url + addressOf(route, ids));
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    if (route === "/boards/$board") await page.getByRole("main").getByRole("link", { name: /bold/ }).first().waitFor();
    if (route === "/loops/$loop") await page.getByRole("region", { name: "Iterations" }).getByText("did it").waitFor();
    await page.getByText("Loading…").first().waitFor({ state: "detached" });
    found[route] = await problems(page, theme);
  }
  await page.goto(`${on.server.url}/boards/${ids.board}?view=status`);
  await page.getByRole("main").getByRole("link", { name: /bold/ }).first().waitFor();
  found.status = await problems(page, theme);
  await on.server.rest(key, "PUT", `/boards/${ids.board}/shares`, { with: "everyone", level: "read" });
  await page.getByRole("button", { name: "Share" }).click();
  await page.getByLabel("What everyone may do").waitFor();
  found.share = await problems(page, theme);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "New zone" }).click();
  await page.getByRole("dialog").waitFor();
  found.zone = await problems(page, theme);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.goto(`${on.server.url}/loops`);
  await page.getByRole("button", { name: "New loop" }).click();
  await page.getByText("Branch and template").click();
  await page.getByRole("form", { name: "Start a loop" }).getByLabel(/^Template/).waitFor();
  found["new loop"] = await problems(page, theme);
  await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
  found.dialog = await problems(page, theme);
  console.log(`figure: axe (${theme}): ${Object.keys(found).length} views of ${(await routes()).length} pages, ${Object.values(found).flat().length} problems`);
  expect(Object.fromEntries(Object.entries(found).filter(([, list]) => list.length > 0))).toEqual({});
});

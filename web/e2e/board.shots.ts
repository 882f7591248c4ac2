import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { test } from "vitest";

import { visit } from "./browser";
import { stage } from "./stage";

const FOLDER = fileURLToPath(new URL("../../docs/images/", import.meta.url));

const on = stage();

const ZONES = [
  { name: "In progress", color: "#2563eb", x: 0, y: 0, width: 312, height: 560 },
  {
    name: "Review",
    color: "#7c3aed",
    x: 336,
    y: 0,
    width: 312,
    height: 560,
    prompt_template: "say I read the branch {{ worktree.branch }}: two remarks, nothing that stops it.",
  },
  { name: "Ship", color: "#0d9488", x: 672, y: 0, width: 312, height: 560, prompt_template: "Rebase on main and run all tests." },
];

/** What lies in which zone, and what its agent does. */
const STORIES: [string, string, string, number, number][] = [
  ["Refactor the session store", "In progress", "say Two modules are moved, the third is next.\nsleep 600", 20, 60],
  ["Plan the migration", "In progress", "question Which database should it use?", 20, 410],
  ["Fix the flaky test", "Review", "write src/parser.rs fn parse() {}\ncommit Wait for the event\nsay It waited for a second instead of for the event.", 356, 60],
];

/** Not a test: makes the pictures of the board. */
test("screenshots of the board", async () => {
  await mkdir(FOLDER, { recursive: true });
  const key = await on.server.key();
  const repo = await on.server.rest(key, "POST", "/repos", { source: await on.server.repo("gateway") });
  const board = await on.server.rest(key, "POST", "/boards", { name: "Gateway", zones: ZONES });
  const patch = (body: unknown) => on.server.rest(key, "PATCH", `/boards/${String(board.id)}`, body);
  for (const [title, zone, prompt, x, y] of STORIES) {
    const made = await on.server.rest(key, "POST", "/sessions", { agent: "echo", repo: repo.id, title, prompt });
    await patch({ place: [{ kind: zone === "Review" ? "worktree" : "session", id: zone === "Review" ? made.worktree_id : made.id, x, y, zone }] });
  }
  const done = await on.server.rest(key, "POST", "/sessions", {
    agent: "echo",
    repo: repo.id,
    title: "Add rate limiting to the API",
    prompt: "write src/limits.rs pub const CALLS_PER_MINUTE: u32 = 600;\ncommit Limit calls\nsay 600 calls a minute for each key.",
  });
  await patch({ place: [{ kind: "session", id: done.id, x: 20, y: 232, zone: "In progress" }] });

  const { page } = await visit(on.browser, on.server);
  await page.setViewportSize({ width: 1280, height: 800 });
  const shot = (name: string) => page.screenshot({ path: `${FOLDER}${name}.png` });
  const theme = async (name: string) => {
    await page.evaluate((value) => localStorage.setItem("wheelhouse-theme", value), name);
    await page.goto(`${on.server.url}/boards/${String(board.short_id)}`);
  };
  await theme("light");
  await page.getByRole("article", { name: /^Worktree/ }).getByText(/two remarks/).waitFor();
  await page.getByRole("article", { name: /rate limiting/ }).getByText("+1").waitFor();
  await shot("board");
  await theme("dark");
  await page.getByRole("article", { name: /^Worktree/ }).getByText(/two remarks/).waitFor();
  await page.waitForTimeout(300);
  await shot("board-dark");
  await page.setViewportSize({ width: 390, height: 844 });
  await theme("light");
  await page.getByRole("region", { name: /^Ready to merge/ }).getByRole("link").first().waitFor();
  await shot("board-phone");
});

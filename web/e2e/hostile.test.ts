import { writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

import type { Page } from "playwright-core";
import { expect, test } from "vitest";

import { conversation, idle, visit } from "./browser";
import type { TestServer } from "./server";
import { stage } from "./stage";

/** Whatever of these runs says so by a dialog, an error, a mark on the window, or a request. */
const MARKUP = [
  "<script>window.pwned=1</script>",
  "<img src=https://evil.example/a.png onerror=window.pwned=1>",
  "<svg/onload=window.pwned=1>",
  "<iframe srcdoc='<script>parent.pwned=1</script>'></iframe>",
  "<iframe src=https://evil.example/frame></iframe>",
  "<a href=javascript:window.pwned=1>click</a>",
  "[click](javascript:window.pwned=1)",
  "[click](data:text/html,<script>window.pwned=1</script>)",
  "[click]( https://evil.example \"'onmouseover=window.pwned=1\")",
  "![image](https://evil.example/tracker.png)",
  "![image](data:image/svg+xml,<svg/onload=window.pwned=1>)",
  "<style>body{background:url(https://evil.example/css)}</style>",
  "<link rel=stylesheet href=https://evil.example/s.css>",
  "<meta http-equiv=refresh content=0;url=https://evil.example/>",
  "<form action=https://evil.example><button>go</button></form>",
  "<object data=https://evil.example/o></object>",
  "<base href=https://evil.example/>",
  "{{constructor.constructor('window.pwned=1')()}}",
  "https://evil.example/autolink",
  "<https://evil.example/angle>",
];

const TERMINAL = [
  "\u001b[31mred\u001b[0m",
  "\u001b]0;owned title\u0007",
  "\u001b]8;;javascript:window.pwned=1\u0007link\u001b]8;;\u0007",
  "\u001b[2J\u001b[Hcleared",
  "\u009b31mcsi",
  "\u202etxt.exe\u202c",
  "a\u0000b",
];

const BRANCH = "wh/<img/src=x/onerror=window.pwned=1>";
const FILE = "<img\u00a0src=x onerror=window.pwned=1>\u202egpj.txt";

const agent = fileURLToPath(new URL("fixtures/hostile-agent.mjs", import.meta.url));
const worst = [...MARKUP, ...TERMINAL];
const config = `[agents.hostile]
title = ${JSON.stringify(MARKUP[1])}
command = ${JSON.stringify([process.execPath, agent])}
env = { HOSTILE = ${JSON.stringify(JSON.stringify(worst))} }
`;
const on = stage({ config });

test("nothing that an agent, a branch, a file or a title says is run or fetched", async () => {
  const { server } = on;
  const key = await server.key();
  const repo = await server.repo("plain");
  const added = await server.rest(key, "POST", "/repos", { source: repo, name: "<b onclick=window.pwned=1>repo" });
  const { page, context, troubles, foreign } = await visit(on.browser, server);
  // Links are there to be clicked, but not by this test.
  await context.route(/evil\.example/, (route) => route.abort());

  const session = await server.rest(key, "POST", "/sessions", {
    agent: "hostile",
    repo: added.id,
    branch: BRANCH,
    title: `${MARKUP[1]} ${MARKUP[0]}`,
    prompt: MARKUP.join("\n"),
  });
  const id = String(session.id).slice(-8);

  const zones = MARKUP.slice(0, 6).map((name, index) => ({ name: `${index}${name}`, prompt_template: MARKUP[index] }));
  const board = await server.rest(key, "POST", "/boards", { name: MARKUP[1], zones });
  const place = [
    { kind: "session", id: session.id },
    { kind: "worktree", id: session.worktree_id, x: 300 },
  ];
  await server.rest(key, "PATCH", `/boards/${String(board.id)}`, { place });
  const boards = ["", `/${String(board.short_id)}`, `/${String(board.short_id)}?view=status`].map((rest) => `/boards${rest}`);

  const loop = await hostileLoop(server, key, String(added.id));
  for (const address of [...boards, `/loops/${loop}`, "/loops", "/", "/inbox", "/new", "/agents", "/search?q=pwned", `/sessions/${id}`]) {
    await page.goto(server.url + address);
    await page.getByRole("main").getByText(/pwned/).first().waitFor();
  }
  await page.goto(`${server.url}/boards/${String(board.short_id)}`);
  await page.getByRole("button", { name: /^What to do with zone 1/ }).click();
  await page.getByRole("menuitem", { name: "Edit zone…" }).click();
  expect(await page.getByLabel(/^Prompt/).inputValue()).toBe(MARKUP[1]);
  await page.goto(`${server.url}/sessions/${id}`);
  await page.getByRole("button", { name: "Allow once" }).click();
  await idle(page);
  const about = await server.rest(key, "GET", `/worktrees/${String(session.worktree_id)}`);
  await writeFile(path.join(String(about.path), FILE), worst.join("\n").replace("\u0000", ""));
  await page.getByRole("button", { name: "Read the diff again" }).click();
  await page.getByRole("tabpanel", { name: "Diff" }).getByText("<script>window.pwned=1</script>").first().waitFor();
  await page.getByRole("tab", { name: "Tree" }).click();
  await page.getByRole("list", { name: "Family of this session" }).getByText(/pwned/).first().waitFor();
  const shown = await readThrough(page);
  await server.rest(key, "POST", `/sessions/${id}/manage`, { action: "stop" });
  await page.getByRole("tab", { name: "Log" }).click();
  const log = page.getByLabel("Log of run 1");
  await log.getByText(/pwned/).first().waitFor();
  expect(await log.innerText()).not.toMatch(/[\u0000\u001b\u009b\u202e]/);
  // What was spent is told when the turn is over.
  await page.goto(`${server.url}/cost`);
  await page.getByRole("main").getByText(/pwned/).first().waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog", { name: "Command palette" }).getByText(/pwned/).first().waitFor();

  expect(await page.evaluate(() => (window as { pwned?: number }).pwned)).toBeUndefined();
  expect(foreign).toEqual([]);
  expect(troubles).toEqual([]);
  expect(shown.text).toContain("red");
  expect(shown.text).not.toMatch(/[\u0000\u001b\u009b\u202e]/);
  expect(shown.elements).toBe(0);
  // Every link that was made leads where it says, in a tab of its own.
  expect(shown.links.length).toBeGreaterThan(2);
  for (const [href, rel, words] of shown.links) {
    expect(href).toMatch(/^https:\/\/evil\.example/);
    expect(rel).toContain("noopener");
    expect(words).toContain("(evil.example)");
  }
});

/** Runs a loop whose every text is hostile: its title, task, note and summary. */
async function hostileLoop(server: TestServer, key: string, repo: string): Promise<string> {
  const text = JSON.stringify(MARKUP.slice(0, 4).join(" "));
  const loop = await server.rest(key, "POST", "/loops", {
    agent: "echo",
    repo,
    title: MARKUP[1],
    spec: worst.join("\n").replace("\u0000", ""),
    tasks: MARKUP.map((content) => ({ content })),
    iterations_max: 1,
    template: `call note_add {"notes": [{"kind": "tip", "content": ${text}}]}\ncall iteration_summary {"summary": ${text}}`,
  });
  return String(loop.short_id);
}

/** Scrolls through the conversation from its end to its beginning, opens whatever opens, and returns what was there. */
async function readThrough(page: Page) {
  const log = conversation(page);
  const found = { text: "", elements: 0, links: [] as string[][] };
  for (let above = 1; above > 0; ) {
    await log.evaluate((element) => {
      element.querySelectorAll("details").forEach((details) => (details.open = true));
    });
    // What is inside is drawn when it is opened.
    await page.waitForTimeout(50);
    const seen = await log.evaluate((element) => ({
      text: (element as HTMLElement).innerText,
      elements: document.querySelectorAll("main img, iframe, object, embed, main form[action], base, main style, main link").length,
      links: Array.from(element.querySelectorAll("a"), (link) => [link.getAttribute("href") ?? "", link.rel, link.textContent]),
    }));
    found.text += seen.text;
    found.elements += seen.elements;
    found.links.push(...seen.links);
    above = await log.evaluate((element) => {
      element.scrollTop -= element.clientHeight / 2;
      return new Promise<number>((resolve) => setTimeout(() => resolve(element.scrollTop), 50));
    });
  }
  return found;
}

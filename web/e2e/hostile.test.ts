import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

import type { Page } from "playwright-core";
import { expect, test } from "vitest";

import { conversation, idle, visit } from "./browser";
import { FIELDS, HIDDEN, long, MARKUP, short, tag, WORST, type Place } from "./hostile-fields";
import { addressOf, routes } from "./routes";
import type { TestServer } from "./server";
import { stage } from "./stage";

const agent = fileURLToPath(new URL("fixtures/hostile-agent.mjs", import.meta.url));
const config = ["hostile", "refusing"]
  .map(
    (name) => `[agents.${name}]
title = ${JSON.stringify(short("agent-title"))}
command = ${JSON.stringify([process.execPath, agent])}
env = { HOSTILE = ${JSON.stringify(JSON.stringify(WORST))}${name === "refusing" ? ', REFUSES = "1"' : ""} }
`,
  )
  .join("");
const on = stage({ config });

test("nothing that can be filled with markup is run or fetched, on any page", async () => {
  const { server } = on;
  const key = await server.key();
  const ids = await fill(server, key);
  const { page, context, troubles, foreign } = await visit(on.browser, server);
  // Links are there to be clicked, but not by this test.
  await context.route(/evil\.example/, (route) => route.abort());
  const reader = new Reader(page);
  const at = (route: string, search = "") => page.goto(server.url + addressOf(route, ids) + search);

  await at("/inbox");
  await reader.look("/inbox");
  await at("/sessions/$session");
  await reader.look("/sessions/$session waiting");
  await page.getByRole("button", { name: "Allow once" }).click();
  await idle(page);
  const shown = await readThrough(page, reader);
  await writeInto(server, key, ids.worktree ?? "");
  await page.getByRole("button", { name: "Read the diff again" }).click();
  await page.getByRole("tree", { name: "Files" }).getByRole("treeitem", { name: /^at-file / }).click();
  await reader.look("/sessions/$session diff");
  for (const pane of ["Tree", "Tasks", "Settings"]) {
    await page.getByRole("tab", { name: pane }).click();
    await reader.look(`/sessions/$session ${pane.toLowerCase()}`);
  }
  await server.rest(key, "POST", `/sessions/${ids.session}/manage`, { action: "stop" });
  await page.getByRole("tab", { name: "Log" }).click();
  await reader.look("/sessions/$session log");
  await page.getByRole("tab", { name: "Turns" }).click();
  await reader.look("/sessions/$session turns");
  await page.goto(`${server.url}/sessions/${ids.echo ?? ""}?pane=tree`);
  await reader.look("/sessions/$session echo");
  await reader.look("/sessions/$session family");
  const { sessions } = (await server.rest(key, "GET", `/sessions?parent=${ids.echo ?? ""}`)) as { sessions: { id: string }[] };
  await page.goto(`${server.url}/sessions/${sessions[0]?.id ?? ""}`);
  await reader.look("/sessions/$session child");

  for (const route of await routes()) {
    if (route === "/audit") {
      // A refusal is written down with what was asked for; the page shows the latest.
      await expect(server.rest(key, "GET", `/worktrees/${encodeURIComponent(short("asked"))}`)).rejects.toThrow();
    }
    await at(route, route === "/search" ? "?q=pwned" : "");
    if (route !== "/inbox" && route !== "/sessions/$session") {
      await reader.look(route as Place);
    }
  }
  await at("/boards/$board", "?view=status");
  await reader.look("/boards/$board status");
  await at("/boards/$board");
  await page.getByRole("button", { name: /^What to do with zone at-zone/ }).click();
  await page.getByRole("menuitem", { name: "Edit zone…" }).click();
  await reader.look("/boards/$board zone");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("Control+k");
  await reader.look("palette");

  const pages = new Set([...reader.seen].map((place) => place.split(" ")[0]));
  expect((await routes()).filter((route) => !pages.has(route))).toEqual([]);
  expect(Object.values(FIELDS).flat().filter((place) => !reader.seen.has(place))).toEqual([]);
  console.log(
    `figure: hostile: ${Object.keys(FIELDS).length} fields in ${reader.found} places, ${WORST.length} texts, ${(await routes()).length} pages, ` +
      `${reader.seen.size} views: ${reader.executed} executions, ${foreign.length} requests to another origin`,
  );
  expect(reader.executed).toBe(0);
  expect(reader.elements).toBe(0);
  expect(foreign).toEqual([]);
  expect(troubles).toEqual([]);
  expect(shown.text).toContain("red");
  // Every link that was made leads where it says, in a tab of its own.
  expect(shown.links.length).toBeGreaterThan(2);
  for (const [href, rel, words] of shown.links) {
    expect(href).toMatch(/^https:\/\/evil\.example/);
    expect(rel).toContain("noopener");
    expect(words).toContain("(evil.example)");
  }
});

/** Looks at pages, and counts what should not be there. */
class Reader {
  readonly seen = new Set<Place>();
  found = 0;
  executed = 0;
  elements = 0;

  constructor(private readonly page: Page) {}

  /** Waits until all is there that the table says is shown here. */
  async look(place: Place): Promise<void> {
    const wanted = Object.keys(FIELDS).filter((field) => FIELDS[field]?.includes(place));
    await this.page.locator("main").waitFor();
    await expect.poll(async () => this.#missing(wanted, await this.#text()), { message: `on ${place}`, timeout: 15_000 }).toEqual([]);
    await this.count(place, wanted, await this.#text());
  }

  /** Notes that a place was looked at, with what was read there. */
  async count(place: Place, wanted: string[], text: string): Promise<void> {
    expect(this.#missing(wanted, text), `on ${place}`).toEqual([]);
    expect(text, `on ${place}`).not.toMatch(HIDDEN);
    this.seen.add(place);
    this.found += wanted.length;
    this.executed += await this.page.evaluate(() => Number((window as { pwned?: number }).pwned ?? 0));
    this.elements += await this.page.evaluate(
      () => document.querySelectorAll("main img, iframe, object, embed, form[action], base, main style, main link, [onerror], [onclick]").length,
    );
  }

  #missing = (fields: string[], text: string) => fields.filter((field) => !text.includes(tag(field).trim()));

  /** What is read on the page, opened as far as it opens: text, what stands in fields, and names that are told but not seen. */
  #text(): Promise<string> {
    return this.page.evaluate(() => {
      document.querySelectorAll("details").forEach((details) => (details.open = true));
      const fields = Array.from(document.querySelectorAll("input, textarea"), (field) => (field as HTMLInputElement).value);
      const names = Array.from(document.querySelectorAll("[title], [aria-label]"), (element) => `${element.getAttribute("title") ?? ""} ${element.getAttribute("aria-label") ?? ""}`);
      return [document.title, document.body.innerText, ...names, ...fields.filter((value) => !/[\u0000-\u0008\u001b\u009b\u202e]/.test(value))].join("\n");
    });
  }
}

/** Makes one of everything that has a page, with markup in whatever can be named or written. */
async function fill(server: TestServer, key: string): Promise<Record<string, string>> {
  const make = (address: string, body: unknown) => server.rest(key, "POST", address, body);
  const repo = await make("/repos", { source: await server.repo(short("repo-path").replaceAll("/", "")), name: short("repo-name") });
  const session = await make("/sessions", {
    agent: "hostile",
    repo: repo.id,
    branch: "wh/at-branch<img/src=x/onerror=window.pwned=1>",
    title: short("title"),
    prompt: long("prompt"),
    policy: { allow: [{ kinds: ["read"], paths: [short("rule")] }] },
  });
  await make("/sessions", { agent: "refusing", title: "refused", prompt: "go" });
  await make("/tasks", { session: session.id, tasks: [{ content: long("task") }] });
  await make("/notes", { session: session.id, notes: [{ kind: "tip", content: long("note") }] });
  const echo = await make("/sessions", { agent: "echo", repo: repo.id, title: short("sender"), prompt: "say ready" });
  await make(`/sessions/${String(echo.id)}/prompts`, {
    prompt: `write a.txt a\ncommit ${short("commit")}\nspawn say ${short("child")}\nquestion ${short("question")}`,
    files: [{ name: "at-attached <img src=x onerror=window.pwned=1>.txt", data: Buffer.from(long("x")).toString("base64") }],
  });
  const zones = [{ name: short("zone"), prompt_template: short("zone-prompt") }];
  const board = await make("/boards", { name: short("board"), zones });
  const place = [
    { kind: "session", id: session.id, x: -400 },
    { kind: "worktree", id: session.worktree_id, x: -800 },
  ];
  await server.rest(key, "PATCH", `/boards/${String(board.id)}`, { place });
  const text = JSON.stringify(MARKUP.slice(0, 4).join(" "));
  const loop = await make("/loops", {
    agent: "echo",
    repo: repo.id,
    title: short("loop"),
    spec: long("spec"),
    tasks: MARKUP.map((words) => ({ content: tag("task") + words })),
    iterations_max: 1,
    template: `call note_add {"notes": [{"kind": "tip", "content": ${JSON.stringify(tag("note"))}}, {"kind": "tip", "content": ${text}}]}\ncall iteration_summary {"summary": ${JSON.stringify(short("summary"))}}`,
  });
  await make("/keys", { name: short("key"), scope: "read" });
  await make("/users", { name: "at-user", email: `${short("email")}@example.org` });
  return {
    session: String(session.short_id),
    worktree: String(session.worktree_id),
    echo: String(echo.short_id),
    board: String(board.short_id),
    loop: String(loop.short_id),
  };
}

/** Puts a file into a worktree whose folder, name and lines are hostile. */
async function writeInto(server: TestServer, key: string, worktree: string): Promise<void> {
  const about = await server.rest(key, "GET", `/worktrees/${worktree}`);
  const folder = path.join(String(about.path), "<svg onload=window.pwned=1>", "\u202egpj");
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, "x"), "");
  await writeFile(path.join(String(about.path), "at-file <img\u00a0src=x onerror=window.pwned=1>\u202egpj.txt"), long("file-text"));
}

/** Scrolls through the conversation from its end to its beginning, opens whatever opens, and returns what was there. */
async function readThrough(page: Page, reader: Reader) {
  const log = conversation(page);
  const found = { text: "", links: [] as string[][] };
  for (let above = 1; above > 0; ) {
    await log.evaluate((element) => {
      element.querySelectorAll("details").forEach((details) => (details.open = true));
    });
    // What is inside is drawn when it is opened.
    await page.waitForTimeout(50);
    const seen = await log.evaluate((element) => ({
      text: (element as HTMLElement).innerText,
      links: Array.from(element.querySelectorAll("a"), (link) => [link.getAttribute("href") ?? "", link.rel, link.textContent]),
    }));
    found.text += seen.text;
    found.links.push(...seen.links);
    above = await log.evaluate((element) => {
      element.scrollTop -= element.clientHeight / 2;
      return new Promise<number>((resolve) => setTimeout(() => resolve(element.scrollTop), 50));
    });
  }
  const wanted = Object.keys(FIELDS).filter((field) => FIELDS[field]?.includes("/sessions/$session"));
  await reader.count("/sessions/$session", wanted, found.text + (await page.getByRole("heading", { level: 1 }).innerText()));
  return found;
}

import { fileURLToPath } from "node:url";

import type { Page } from "playwright-core";
import { expect, test } from "vitest";

import { conversation, idle, said, send, visit } from "./browser";
import { stage } from "./stage";

const agent = fileURLToPath(new URL("fixtures/commands-agent.mjs", import.meta.url));
const on = stage({
  config: `[agents.commander]
title = "Commander"
command = ${JSON.stringify([process.execPath, agent])}

[prices."echo-2"]
input = 1000.0
output = 1000.0
`,
});

/** Opens the form for a new session in an empty directory. */
async function form(page: Page, name: RegExp, prompt: string): Promise<void> {
  await page.goto(`${on.server.url}/new`);
  await page.getByLabel("An empty directory, without a repository").check();
  await page.getByRole("radio", { name }).check();
  await page.getByLabel("What should it do?").fill(prompt);
}

async function start(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Start session" }).click();
  await page.waitForURL(/\/sessions\/[0-9a-f]{8}/);
}

const about = (page: Page) => page.getByRole("group", { name: "About this session" });
const settings = (page: Page) => page.getByRole("tabpanel", { name: "Settings" });

test("a budget is set on the form, used up, raised, and the session goes on", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  await form(page, /^Echo/, "say once");
  await page.getByText("Limits and permissions").click();
  await page.getByLabel("Turns").fill("1");
  await page.getByLabel("US dollars").fill("a lot");
  await page.getByRole("alert").getByText("Limits are numbers, or empty.").waitFor();
  expect(await page.getByRole("button", { name: "Start session" }).isDisabled()).toBe(true);
  await page.getByLabel("US dollars").fill("");
  await start(page);
  await said(page, "once");
  await about(page).getByText("Its budget of turns is used up").waitFor();
  await page.getByPlaceholder("Its budget of turns is used up. Raise it in its settings.").waitFor();
  const session = page.url();

  await page.getByRole("link", { name: /^Inbox/ }).click();
  await page.getByRole("link", { name: "Raise the budget of say once" }).click();
  const budget = settings(page).getByRole("form", { name: "Budget" });
  await budget.getByText("Its budget of turns is used up.").waitFor();
  await budget.getByLabel("Turns").fill("3");
  await budget.getByRole("button", { name: "Save budget" }).click();
  await about(page).getByText("Its budget of turns is used up").waitFor({ state: "detached" });
  expect(page.url()).toContain(session.slice(-8));
  await send(page, "say twice");
  await said(page, "twice");
  await idle(page);
  const known = (await on.server.rest(await on.server.key(), "GET", `/sessions/${session.slice(-8)}`)) as { budget: unknown };
  expect(known.budget).toEqual({ turns: 3 });
  expect(troubles).toEqual([]);
});

test("what applies is shown beside what was requested", async () => {
  await on.server.cli("config", "set", "budget.session.turns", "5");
  const { page, troubles } = await visit(on.browser, on.server);
  await form(page, /^Echo/, "say narrowed");
  await page.getByText("Limits and permissions").click();
  await page.getByLabel("Turns").fill("50");
  await page.getByLabel("Actions without a rule").selectOption("Deny");
  await start(page);
  await page.getByText("Turn limit: 50 turns requested, 5 turns applied").waitFor();
  await said(page, "narrowed");
  await page.getByRole("tab", { name: "Settings" }).click();
  const terms = settings(page).getByRole("region", { name: "Requested and applied" });
  await terms.getByRole("row", { name: "Turns 50 turns 5 turns" }).waitFor();
  await terms.getByRole("row", { name: "Other actions deny deny" }).waitFor();
  await terms.getByRole("row", { name: /^Workspace an empty directory/ }).waitFor();
  await page.getByRole("button", { name: "Dismiss", exact: true }).last().click();
  await page.getByText("Not everything applies as it was requested:").waitFor({ state: "detached" });
  await on.server.cli("config", "unset", "budget.session.turns");
  expect(troubles).toEqual([]);
});

test("a model is chosen from what the agent offers, on the form and while the session lives", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  await form(page, /^Commander/, "hello");
  await start(page);
  await said(page, "m-small was told: hello");
  await about(page).getByText("commander (m-small)").waitFor();

  await form(page, /^Commander/, "hello again");
  await page.getByLabel("Which model?").selectOption("Large");
  await start(page);
  await said(page, "m-large was told: hello again");
  await about(page).getByText("commander (m-large)").waitFor();
  await idle(page);
  await page.getByRole("tab", { name: "Settings" }).click();
  const model = settings(page).getByRole("form", { name: "Model" });
  await model.getByLabel("Model").selectOption("Small");
  await model.getByRole("button", { name: "Change model" }).click();
  await settings(page).getByText("m-large (requested: m-small)").waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("button", { name: "Resume" }).click();
  await send(page, "once more");
  await said(page, "m-small was told: once more");
  await about(page).getByText("commander (m-small)").waitFor();
  expect(troubles).toEqual([]);
});

test("an agent's commands are offered while a prompt begins with a slash", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  await form(page, /^Commander/, "hello");
  await start(page);
  await said(page, "m-small was told: hello");
  await idle(page);
  const prompt = page.getByRole("textbox", { name: "Prompt" });
  const menu = page.getByRole("listbox", { name: "Commands of the agent" });
  await prompt.fill("/");
  await expect.poll(() => menu.getByRole("option").count()).toBe(3);
  await menu.getByText("reviews the changes").waitFor();
  await prompt.fill("/rev");
  await menu.getByRole("option", { name: /^\/review/, selected: true }).waitFor();
  await prompt.press("ArrowDown");
  await menu.getByRole("option", { name: /^\/preview/, selected: true }).waitFor();
  await prompt.press("ArrowUp");
  await prompt.press("Enter");
  expect(await prompt.inputValue()).toBe("/review ");
  await menu.waitFor({ state: "detached" });
  await prompt.pressSequentially("the parser");
  await prompt.press("Enter");
  await said(page, "m-small was told: /review the parser");
  await prompt.fill("/in");
  await prompt.press("Escape");
  await menu.waitFor({ state: "detached" });
  await page.getByRole("tab", { name: "Settings" }).click();
  await settings(page).getByText("/review /init /preview").waitFor();
  expect(await conversation(page).getByText("/init", { exact: true }).count()).toBe(0);
  expect(troubles).toEqual([]);
});

test("an estimate is shown as one", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  const key = await on.server.key();
  const begun = { agent: "echo", model: "echo-2", title: "Estimated", prompt: "say something that costs" };
  const session = await on.server.rest(key, "POST", "/sessions", begun);
  await page.goto(`${on.server.url}/sessions/${String(session.short_id)}?pane=settings`);
  await idle(page);
  await about(page).getByText(/^~\$\d/).waitFor();
  await settings(page).getByText(/~\$.*estimated from tokens and list prices/).waitFor();
  await page.goto(`${on.server.url}/cost`);
  await page.getByLabel("Totals").getByText(/^~\$\d/).waitFor();
  expect(troubles).toEqual([]);
});

test("the tools of an agent are chosen on the form and shown on the session", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  await form(page, /^Echo/, "say hello");
  await page.getByText("Limits and permissions").click();
  await page.getByLabel("Tools of the agent").selectOption("agor");
  await start(page);
  await said(page, "hello");
  await page.getByRole("tab", { name: "Settings" }).click();
  await settings(page).getByRole("row", { name: "Tools agor agor" }).waitFor();
  const known = await on.server.rest(await on.server.key(), "GET", `/sessions/${new URL(page.url()).pathname.slice(-8)}`);
  expect(known.mcp_dialect).toBe("agor");
  await page.reload();
  await page.getByRole("tab", { name: "Settings" }).click();
  await settings(page).locator("dt", { hasText: "Tools of its agent" }).locator("+ dd", { hasText: /^agor$/ }).waitFor();
  expect(troubles).toEqual([]);
});

import { chromium, type Browser, type BrowserContext, type Page } from "playwright-core";

import type { TestServer } from "./server";

const EXECUTABLE = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** How long a page may take to show what is waited for. */
const WAIT_MS = 20_000;

/** Debian's browser, which asks nobody anything by itself. */
export const CHROMIUM = {
  executablePath: EXECUTABLE,
  args: [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
  ],
};

export function launch(): Promise<Browser> {
  return chromium.launch(CHROMIUM);
}

/** A page and all that went wrong in it. */
export interface Visit {
  page: Page;
  context: BrowserContext;
  /** What ran that should not have, broke, or was refused by the policy. */
  troubles: string[];
  /** Requests to anywhere but the server. */
  foreign: string[];
}

/** Opens a page in a browser profile of its own, signed in by a fresh link, as the administrator or as somebody else. */
export async function visit(browser: Browser, server: TestServer, user?: string): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  const made: Visit = { page, context, troubles: [], foreign: [] };
  page.on("pageerror", (error) => made.troubles.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    made.troubles.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource") && !message.text().includes("WebSocket connection")) {
      made.troubles.push(`console: ${message.text()}`);
    }
  });
  context.on("request", (request) => {
    if (new URL(request.url()).origin !== new URL(server.url).origin) {
      made.foreign.push(request.url());
    }
  });
  await page.goto(await server.loginLink(user));
  return made;
}

/** Begins a session by the form and waits for its page. */
export async function startSession(page: Page, prompt: string, repo?: string): Promise<void> {
  await page.getByRole("link", { name: "New session" }).first().click();
  // The page before it may have the same form.
  await page.getByRole("heading", { name: "New session" }).waitFor();
  if (repo) {
    await page.getByLabel("Path or address of a repository").fill(repo);
  } else {
    await page.getByLabel("An empty directory, without a repository").check();
  }
  await page.getByRole("radio", { name: /^Echo/ }).check();
  await page.getByLabel("What should it do?").fill(prompt);
  await page.getByRole("button", { name: "Start session" }).click();
  await page.waitForURL(/\/sessions\/[0-9a-f]{8}/);
}

/** The conversation that is shown. */
export const conversation = (page: Page) => page.getByRole("log", { name: "Conversation" });

/** Waits until the agent has said exactly this. */
export const said = (page: Page, words: string) =>
  conversation(page).getByText(words, { exact: true }).last().waitFor();

/** Writes into the prompt box and sends it. */
export async function send(page: Page, prompt: string): Promise<void> {
  await page.getByRole("textbox", { name: "Prompt" }).fill(prompt);
  await page.getByRole("button", { name: "Send", exact: true }).click();
}

/** Waits until the session is in a state. */
export const inState = (page: Page, state: string) =>
  page.getByRole("group", { name: "About this session" }).getByText(state, { exact: true }).waitFor();

/** Waits until the session is at rest. */
export const idle = (page: Page) => inState(page, "idle");

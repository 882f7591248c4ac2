import { expect, test } from "vitest";

import { idle, said, visit } from "./browser";
import { stage } from "./stage";

const on = stage();

test("from the login link to the first diff in under a minute", async () => {
  const began = Date.now();
  const repo = await on.server.repo();
  const { page, troubles, foreign } = await visit(on.browser, on.server);
  await page.getByRole("heading", { name: "Welcome to Wheelhouse" }).waitFor();
  await page.getByLabel("Path or address of a repository").fill(repo);
  await page.getByRole("radio", { name: /^Echo/ }).check();
  await page.getByLabel("What should it do?").fill("say I begin\nwrite hello.txt Hello from an agent");
  await page.getByRole("button", { name: "Start session" }).click();

  await page.waitForURL(/\/sessions\/[0-9a-f]{8}/);
  await said(page, "I begin");
  await idle(page);
  const diff = page.getByRole("tabpanel", { name: "Diff" });
  await diff.getByText("hello.txt", { exact: true }).waitFor();
  await diff.getByText("Hello from an agent", { exact: true }).waitFor();
  expect(Date.now() - began).toBeLessThan(60_000);

  await page.getByRole("link", { name: "All sessions" }).click();
  const ready = page.getByRole("region", { name: /^Ready/ });
  await ready.getByRole("link", { name: /say I begin/ }).waitFor();
  expect(troubles).toEqual([]);
  expect(foreign).toEqual([]);
});

test("nobody sees anything without signing in", async () => {
  const context = await on.browser.newContext();
  const page = await context.newPage();
  for (const address of ["/", "/boards", "/boards/00000000", "/inbox", "/new", "/search", "/agents", "/keys", "/audit", "/sessions/00000000"]) {
    await page.goto(on.server.url + address);
    await page.getByRole("heading", { name: "You are not signed in" }).waitFor();
  }
  await context.close();
});

test("who signs out is out, and an address that leads nowhere is not found", async () => {
  const { page } = await visit(on.browser, on.server);
  const nowhere = await page.goto(`${on.server.url}/nowhere`);
  expect(nowhere?.status()).toBe(404);
  await page.goto(on.server.url);
  await page.getByRole("button", { name: /^Sign out/ }).click();
  await page.getByRole("heading", { name: "You are not signed in" }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "You are not signed in" }).waitFor();
});

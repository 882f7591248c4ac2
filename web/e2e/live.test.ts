import type { Page } from "playwright-core";
import { expect, test } from "vitest";

import { conversation, idle, said, send, startSession, visit } from "./browser";
import { stage } from "./stage";

const on = stage();

const COUNT = 40;
const counted = Array.from({ length: COUNT }, (_, index) => index + 1).join(" ");

/** Everything the agent said. A crash of the server may begin a new message in the middle. */
async function words(page: Page): Promise<string> {
  const said = await conversation(page).getByRole("article").filter({ hasText: "Agent" }).allInnerTexts();
  return said.join(" ").replaceAll("Agent", "").replace(/\s+/g, " ").trim();
}

test("two browsers see each other's changes", async () => {
  const one = await visit(on.browser, on.server);
  const other = await visit(on.browser, on.server);
  await startSession(one.page, "ask may I?");
  await one.page.getByRole("region", { name: "The agent asks for permission" }).waitFor();

  const needed = other.page.getByRole("region", { name: /^Needs you/ });
  await needed.getByRole("link", { name: /may I/ }).click();
  await other.page.getByRole("button", { name: "Allow once" }).click();
  await said(one.page, "may I?: allow");
  await idle(one.page);
  await send(one.page, "say from the first");
  await said(other.page, "from the first");
  await send(other.page, "say from the second");
  await said(one.page, "from the second");

  await one.page.getByRole("link", { name: "Keys" }).click();
  await other.page.getByRole("link", { name: "Keys" }).click();
  await one.page.getByRole("button", { name: "New key" }).click();
  await one.page.getByLabel("Name").fill("shared");
  await one.page.getByRole("button", { name: "Create key" }).click();
  await other.page.getByRole("row", { name: /shared/ }).waitFor();
  expect([...one.troubles, ...other.troubles]).toEqual([]);
});

test("a reload and a crash of the server in the middle lose nothing", async () => {
  const { page } = await visit(on.browser, on.server);
  await startSession(page, `count ${COUNT} 150`);
  await conversation(page).getByText(/^1 2 3/).waitFor();
  await page.reload();
  await conversation(page).getByText(/^1 2 3 4 5/).waitFor();
  await page.getByRole("textbox", { name: "Prompt" }).fill("say a draft");

  await on.server.kill();
  await page.getByText("The server cannot be reached.").waitFor();
  await on.server.startAgain();
  await page.getByText("The server cannot be reached.").waitFor({ state: "detached" });
  await idle(page);
  await expect.poll(() => words(page), { timeout: 15_000 }).toBe(counted);

  await page.reload();
  await expect.poll(() => words(page), { timeout: 15_000 }).toBe(counted);
  expect(await page.getByRole("textbox", { name: "Prompt" }).inputValue()).toBe("say a draft");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await said(page, "a draft");
});

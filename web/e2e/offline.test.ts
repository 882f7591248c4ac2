import { expect, test } from "vitest";

import { conversation, idle, said, send, startSession, visit } from "./browser";
import { stage } from "./stage";

const on = stage();

test("without the server, pages that were never opened are shown, and what is written is kept and not sent", async () => {
  const { page } = await visit(on.browser, on.server);
  const read = page.waitForResponse((response) => response.url().includes("/assets/audit"));
  await startSession(page, "say hello");
  await said(page, "hello");
  await idle(page);
  const session = page.url();
  await read;

  await on.server.kill();
  await page.getByText("The server cannot be reached.").waitFor();
  await send(page, "say only once");
  await page.getByText("not sent: the server cannot be reached").first().waitFor();
  await page.getByText("Your input is kept; send it again when the server is back.").first().waitFor();
  expect(await page.getByRole("textbox", { name: "Prompt" }).inputValue()).toBe("say only once");

  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Audit" }).click();
  await page.getByRole("heading", { level: 1, name: "Audit" }).waitFor();
  await page.getByRole("alert").getByText("retrying automatically").waitFor();

  await on.server.startAgain();
  await page.getByText("The server cannot be reached.").waitFor({ state: "detached" });
  await page.getByRole("table").first().waitFor();
  await page.goto(session);
  await idle(page);
  expect(await conversation(page).getByText("only once", { exact: true }).count()).toBe(0);
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await said(page, "only once");
});

test("a browser without a network says so at once, and sends nothing later", async () => {
  const { page, context } = await visit(on.browser, on.server);
  await startSession(page, "say connected");
  await idle(page);
  await context.setOffline(true);
  await send(page, "say late");
  await page.getByText("not sent: the server cannot be reached").first().waitFor();
  await context.setOffline(false);
  await expect.poll(() => page.getByRole("button", { name: "Send", exact: true }).isEnabled()).toBe(true);
  await send(page, "say now");
  await said(page, "now");
  await idle(page);
  expect(await conversation(page).getByText("late", { exact: true }).count()).toBe(0);
});

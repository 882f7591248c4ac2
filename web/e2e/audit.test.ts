import { expect, test } from "vitest";

import { visit } from "./browser";
import { stage } from "./stage";

const on = stage();

test("the audit log is asked for what is looked for, by an address that can be shared", async () => {
  const key = await on.server.key();
  const board = (await on.server.rest(key, "POST", "/boards", { name: "looked for" })) as unknown as { id: string; short_id: string };
  await on.server.rest(key, "POST", "/boards", { name: "another" });
  await on.server.rest(key, "GET", `/boards/${board.short_id}`);
  await expect(on.server.rest(key, "GET", "/boards/00000000")).rejects.toThrow();

  const { page, troubles } = await visit(on.browser, on.server);
  await page.getByRole("link", { name: "Audit" }).click();
  const filters = page.getByRole("search", { name: "Filters" });
  const rows = page.getByRole("row").filter({ has: page.getByRole("cell") });
  const show = () => filters.getByRole("button", { name: "Show" }).click();
  await rows.filter({ hasText: "board_create" }).first().waitFor();
  expect(await page.locator("#audit-operations option[value=board_create]").count()).toBe(1);

  // What this page itself has read is not in the way, unless it is asked for.
  await expect.poll(() => rows.filter({ hasText: /audit_list|whoami|session_list/ }).count()).toBe(0);
  await rows.filter({ hasText: "board_get" }).filter({ hasText: "NOT_FOUND" }).waitFor();
  await filters.getByLabel("Include successful reads").check();
  await show();
  await page.waitForURL(/reads=yes/);
  await rows.filter({ hasText: "whoami" }).first().waitFor();

  await filters.getByLabel("About the id").fill(board.id);
  await show();
  await page.waitForURL(/about=/);
  await expect.poll(() => rows.count(), { timeout: 10_000 }).toBe(2);
  await rows.filter({ hasText: "board_get" }).waitFor();

  await filters.getByLabel("Operation").fill("board_create");
  await show();
  await page.waitForURL(/operation=board_create/);
  await rows.filter({ hasText: "board_get" }).waitFor({ state: "detached" });
  await rows.filter({ hasText: `board ${board.short_id}` }).waitFor();
  const address = page.url();
  await page.goBack();
  await rows.filter({ hasText: "board_get" }).waitFor();
  expect(await filters.getByLabel("Operation").inputValue()).toBe("");

  const guest = await visit(on.browser, on.server);
  await guest.page.goto(address);
  await guest.page.getByRole("row").filter({ hasText: "board_create" }).waitFor();
  expect(await guest.page.getByLabel("About the id").inputValue()).toBe(board.id);

  await filters.getByRole("button", { name: "Clear" }).click();
  await filters.getByLabel("Outcome").selectOption("refused");
  await filters.getByLabel("Came in by").selectOption("rest");
  await show();
  await page.waitForURL(/outcome=refused/);
  await rows.filter({ hasText: "NOT_FOUND" }).first().waitFor();
  await expect.poll(() => rows.getByText("ok", { exact: true }).count(), { timeout: 10_000 }).toBe(0);

  await filters.getByLabel("Last day").fill("2020-01-01");
  await show();
  await page.getByText("No such calls").waitFor();
  await page.getByRole("button", { name: "Clear the filters" }).click();
  await rows.filter({ hasText: "board_create" }).first().waitFor();
  expect(new URL(page.url()).search).toBe("");
  await filters.getByLabel("About the id").fill("everything");
  await show();
  await page.getByRole("alert").getByText(/must be an id/).waitFor();
  expect([...troubles, ...guest.troubles]).toEqual([]);
});

import type { Page } from "playwright-core";
import { expect, test } from "vitest";

import { visit } from "./browser";
import { stage } from "./stage";

/** More than a page of a list has. */
const MANY = 205;
/** Requests that are under way at once. */
const AT_ONCE = 4;

const on = stage();

/** Makes many of something; the first one is the last that a list shows. */
async function make(key: string, address: string, body: (n: number) => unknown): Promise<void> {
  await on.server.rest(key, "POST", address, body(0));
  const rest = Array.from({ length: MANY - 1 }, (_, index) => index + 1);
  const work = async () => {
    for (let n = rest.shift(); n !== undefined; n = rest.shift()) {
      await on.server.rest(key, "POST", address, body(n));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

/** Shows the rest of a list, whose last entry was not there before. */
async function showRest(page: Page, last: ReturnType<Page["getByText"]>): Promise<void> {
  await page.getByText(/^Showing 200/).waitFor();
  expect(await last.count()).toBe(0);
  await page.getByRole("button", { name: "Show more" }).click();
  await last.waitFor();
  await page.getByRole("button", { name: "Show more" }).waitFor({ state: "detached" });
}

test("lists of more than a page are shown to their end, and choices lack nothing", async () => {
  const key = await on.server.key();
  await make(key, "/boards", (n) => ({ name: `Board ${n}.` }));
  await make(key, "/users", (n) => ({ name: `user-${n}.` }));
  // A user has at most 100.
  await make(key, "/keys", (n) => ({ name: `Key ${n}.`, scope: "read", user: `user-${n % 4}.` }));
  const { page, troubles } = await visit(on.browser, on.server);
  await page.getByRole("link", { name: "Boards", exact: true }).click();
  await showRest(page, page.getByText("Board 0.", { exact: true }));
  await page.getByRole("link", { name: "Users", exact: true }).click();
  await showRest(page, page.getByText("user-0.", { exact: true }));
  await page.getByRole("link", { name: "Keys", exact: true }).click();
  await showRest(page, page.getByText("Key 0.", { exact: true }));

  // After a reload the palette has read nothing yet.
  await page.reload();
  await page.getByRole("heading", { name: "Keys", exact: true }).waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("Board 0.");
  await page.getByRole("option", { name: "Board 0." }).click();
  await page.getByRole("heading", { name: "Board 0." }).waitFor();
  await page.getByRole("button", { name: /^Share/ }).click();
  const users = page.locator("datalist option[value='user-0.']");
  await users.waitFor({ state: "attached" });
  expect(troubles).toEqual([]);
});

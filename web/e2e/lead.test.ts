import { expect, test } from "vitest";

import { idle, visit } from "./browser";
import { stage } from "./stage";

const on = stage();

test("a person creates a session that leads, and takes the role away while it runs", async () => {
  const { page } = await visit(on.browser, on.server);
  await page.goto(`${on.server.url}/new`);
  await page.getByLabel("An empty directory, without a repository").check();
  await page.getByRole("radio", { name: /^Echo/ }).check();
  await page.getByLabel("What should it do?").fill('call board_create {"name": "made by the lead"}');
  await page.getByRole("checkbox", { name: /^Let it lead/ }).check();
  await page.getByRole("button", { name: "Start session" }).click();
  await page.waitForURL(/\/sessions\/[0-9a-f]{8}/);
  await idle(page);
  const tab = page.getByRole("tab", { name: "Settings" });
  await tab.click();
  const settings = page.getByRole("tabpanel", { name: "Settings" });
  const role = settings.getByRole("term").filter({ hasText: /^Role$/ }).locator("+ dd");
  expect(await role.textContent()).toBe("lead");
  await settings.getByRole("button", { name: "Take the role away" }).click();
  await role.getByText("general", { exact: true }).waitFor();
  await settings.getByRole("button", { name: "Take the role away" }).waitFor({ state: "detached" });
  await page.goto(`${on.server.url}/boards`);
  await page.getByRole("link", { name: /made by the lead/ }).waitFor();
});

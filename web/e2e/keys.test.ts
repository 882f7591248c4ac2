import { expect, test } from "vitest";

import { visit } from "./browser";
import { stage } from "./stage";

const on = stage();

test("a key is made, shown once, used and revoked", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  await page.getByRole("link", { name: "Keys" }).click();
  await page.getByText("No keys yet").waitFor();
  await page.getByRole("button", { name: "New key" }).click();
  const dialog = page.getByRole("dialog", { name: "New key" });
  await dialog.getByLabel("Name").fill("ci");
  await dialog.getByLabel("What it may do").selectOption("read");
  await dialog.getByRole("button", { name: "Create key" }).click();
  const secret = await page.getByLabel("Secret key").innerText();
  expect(secret).toMatch(/^wh_read_[0-9a-f]{32}$/);
  await page.getByRole("button", { name: "Done" }).click();

  const row = page.getByRole("row", { name: /ci/ });
  await row.getByText("active").waitFor();
  await page.reload();
  await row.getByText("active").waitFor();
  expect(await page.getByText(secret).count()).toBe(0);
  const whoami = () => fetch(`${on.server.url}/api/v1/whoami`, { headers: { authorization: `Bearer ${secret}` } });
  expect((await whoami()).status).toBe(200);

  await row.getByRole("button", { name: "Revoke ci" }).click();
  await page.getByRole("dialog", { name: "Revoke ci?" }).getByRole("button", { name: "Revoke" }).click();
  await row.getByText("revoked").waitFor();
  expect((await whoami()).status).toBe(401);
  expect(troubles).toEqual([]);
});

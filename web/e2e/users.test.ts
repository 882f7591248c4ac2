import { expect, test } from "vitest";

import { visit } from "./browser";
import { stage } from "./stage";

const on = stage();

test("a user is made, signed in by a link that is shown once, and sees what is theirs", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  await page.getByRole("link", { name: "Users" }).click();
  await page.getByRole("button", { name: "New user" }).click();
  const dialog = page.getByRole("dialog", { name: "New user" });
  await dialog.getByLabel(/^Name/).fill("not a name");
  await dialog.getByRole("button", { name: "Create user" }).click();
  await dialog.getByRole("alert").waitFor();
  await dialog.getByLabel(/^Name/).fill("mia");
  await dialog.getByLabel(/^Email/).fill("mia@example.org");
  await dialog.getByRole("button", { name: "Create user" }).click();
  const row = page.getByRole("row", { name: /mia@example.org/ });
  await row.getByText("member", { exact: true }).waitFor();

  await row.getByRole("button", { name: "Make a sign-in link for mia" }).click();
  const link = await page.getByLabel("Sign-in link", { exact: true }).innerText();
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(await page.getByText(link).count()).toBe(0);

  const context = await on.browser.newContext();
  const hers = await context.newPage();
  await hers.goto(link);
  await hers.goto(`${on.server.url}/users`);
  await hers.getByText(/You are a member/).waitFor();
  await hers.getByRole("row", { name: /mia/ }).waitFor();
  expect(await hers.getByRole("row").count()).toBe(2);
  expect(await hers.getByRole("button", { name: "New user" }).isDisabled()).toBe(true);
  await hers.getByRole("link", { name: "Settings" }).click();
  await hers.getByText(/Only administrators change settings/).waitFor();
  expect(await hers.getByLabel("spawn.depth_max", { exact: true }).isDisabled()).toBe(true);

  // Somebody has to stay who can undo things.
  const own = page.getByRole("row", { name: /\byou\b/ });
  await own.getByRole("button", { name: /^More about/ }).click();
  await page.getByRole("menuitem", { name: "Disable" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Disable" }).click();
  await page.getByText(/this is the last active administrator/).first().waitFor();

  // What she may do changes where she is signed in.
  const choose = async (item: string) => {
    await row.getByRole("button", { name: "More about mia" }).click();
    await page.getByRole("menuitem", { name: item }).click();
  };
  await choose("Change role or email");
  const change = page.getByRole("dialog", { name: "Change mia" });
  await change.getByLabel("Role").selectOption("admin");
  await change.getByRole("button", { name: "Save" }).click();
  await row.getByText("admin", { exact: true }).waitFor();
  await hers.getByText(/Only administrators change settings/).waitFor({ state: "detached" });

  await choose("Disable");
  await page.getByRole("dialog", { name: "Disable mia?" }).getByRole("button", { name: "Disable" }).click();
  await row.getByText("disabled", { exact: true }).waitFor();
  expect(await row.getByRole("button", { name: "Make a sign-in link for mia" }).isDisabled()).toBe(true);
  await hers.getByText(/not signed in/i).first().waitFor();
  await choose("Enable");
  await row.getByText("disabled", { exact: true }).waitFor({ state: "detached" });
  await hers.reload();
  await hers.getByRole("link", { name: "Users" }).waitFor();
  await context.close();
  expect(troubles).toEqual([]);
});

test("a setting is changed, applies, and goes back, everywhere at once", async () => {
  const one = await visit(on.browser, on.server);
  const other = await visit(on.browser, on.server);
  for (const { page } of [one, other]) {
    await page.getByRole("link", { name: "Settings" }).click();
  }
  const field = (page: typeof one.page) => page.getByLabel("spawn.depth_max", { exact: true });
  const row = (page: typeof one.page) => page.getByRole("listitem").filter({ has: field(page) });
  await field(one.page).fill("5");
  await row(one.page).getByRole("button", { name: "Save" }).click();
  await one.page.getByText("spawn.depth_max is 5").first().waitFor();
  await row(other.page).getByText("set here").waitFor();
  expect(await field(other.page).inputValue()).toBe("5");
  expect(await on.server.cli("config", "show", "--json")).toContain("spawn.depth_max");

  await field(other.page).fill("99999");
  await row(other.page).getByRole("button", { name: "Save" }).click();
  await other.page.getByText(/must be from 1 to 20/).first().waitFor();
  await row(one.page).getByRole("button", { name: /back to its default/ }).click();
  await row(other.page).getByText("default", { exact: true }).first().waitFor();
  expect(await field(one.page).inputValue()).toBe("3");
  expect([...one.troubles, ...other.troubles]).toEqual([]);
});

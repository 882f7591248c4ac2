import { expect, test } from "vitest";

import { visit } from "./browser";
import { stage } from "./stage";

const on = stage();

test("a credential is stored, listed without its token, and deleted", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  await page.getByRole("link", { name: "Settings" }).click();
  const section = page.getByRole("region", { name: "Credentials" });
  await section.getByLabel("Host").fill("git.example:8443");
  await section.getByLabel("Token").fill("canary-token");
  await section.getByLabel("Used for").selectOption("everyone");
  await section.getByRole("button", { name: "Store" }).click();
  const row = section.getByRole("row", { name: /git.example:8443/ });
  await row.getByText("everyone").waitFor();
  await page.reload();
  await row.getByText("everyone").waitFor();
  expect(await page.content()).not.toContain("canary-token");

  await section.getByLabel("Host").fill("https://git.example/team/app");
  await section.getByLabel("Token").fill("canary-token");
  await section.getByRole("button", { name: "Store" }).click();
  await section.getByRole("alert").waitFor();

  await row.getByRole("button", { name: /^Delete/ }).click();
  const dialog = page.getByRole("dialog", { name: "Delete the credential for git.example:8443?" });
  await dialog.getByRole("button", { name: "Delete" }).click();
  await row.waitFor({ state: "detached" });
  // The refused request is reported by the browser, and nothing else is.
  expect(troubles.filter((trouble) => !trouble.includes("400"))).toEqual([]);
});

import { expect, test } from "vitest";

import { visit } from "./browser";
import { stage } from "./stage";

const on = stage();

test("what was spent is shown, live, and leads to the sessions", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Cost" }).click();
  await page.getByText("Nothing was spent in this time").waitFor();

  const key = await on.server.key();
  const begin = (title: string, prompt: string) => on.server.rest(key, "POST", "/sessions", { agent: "echo", title, prompt });
  await begin("a dear one", "cost 2.50");
  const totals = page.getByLabel("Totals");
  await totals.getByText("$2.50", { exact: true }).waitFor();
  await begin("a cheap one", "cost 0.25\nsay more");
  await totals.getByText("$2.75", { exact: true }).waitFor();

  await page.getByRole("img", { name: /^Cost by day, .* \$2\.75$/ }).waitFor();
  await page.getByText("The same as a table").click();
  const days = page.getByRole("table", { name: "What was used, by day" });
  await days.getByRole("row", { name: /\$2\.75/ }).waitFor();
  await page.getByRole("table", { name: "What was used, by agent" }).getByRole("row", { name: /echo \$2\.75/ }).waitFor();
  const trees = page.getByRole("table", { name: "What was used, by tree of sessions" });
  expect((await trees.getByRole("rowheader").allInnerTexts()).map((text) => text.trim())).toEqual(["a dear one", "a cheap one"]);

  await page.getByLabel("Show").selectOption("tokens");
  await page.getByRole("img", { name: /^Tokens by day/ }).waitFor();
  await page.getByLabel("Time").selectOption("7 days");
  await page.waitForURL(/since=7d/);
  await totals.getByText("$2.75", { exact: true }).waitFor();
  await page.getByLabel("Time").selectOption("From … to …");
  await page.getByLabel("First day").fill("2020-01-01");
  await page.getByRole("alert").getByText(/at most 366 days/).waitFor();
  await page.getByLabel("Last day").fill("2020-01-31");
  await page.getByText("Nothing was spent in this time").waitFor();
  await page.goBack();
  await page.goBack();
  await page.getByLabel("Time").selectOption("30 days");
  await trees.getByRole("link", { name: "a dear one" }).click();
  await page.getByRole("heading", { name: "a dear one" }).waitFor();
  expect(troubles).toEqual([]);
});

test("a long title does not push the numbers out of the table", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  const title = "x".repeat(190);
  await on.server.rest(await on.server.key(), "POST", "/sessions", { agent: "echo", title, prompt: "cost 1.75" });
  for (const width of [1400, 700]) {
    await page.setViewportSize({ width, height: 900 });
    await page.goto(`${on.server.url}/cost`);
    const table = page.getByRole("table", { name: "What was used, by tree of sessions" });
    const row = table.getByRole("row", { name: /x{190}/ });
    await row.getByText("$1.75").waitFor();
    const last = await row.getByRole("cell").last().boundingBox();
    const frame = await table.locator("..").boundingBox();
    expect((last?.x ?? 0) + (last?.width ?? 0), `at ${width}`).toBeLessThanOrEqual((frame?.x ?? 0) + (frame?.width ?? 0));
  }
  expect(troubles).toEqual([]);
});

import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { visit } from "./browser";
import { stage } from "./stage";

const FOLDER = fileURLToPath(new URL("../../docs/images/", import.meta.url));

const on = stage();

/** What each day of the picture cost, beside the others; the last is today. */
const DAYS = [0, 3.1, 4.8, 2.2, 6.4, 0.4, 0, 5.2, 7.9, 3.3, 4.1, 8.6, 1.2, 0.3, 6.1, 5.5, 9.4, 7.2, 3.9, 0, 0.8, 4.4, 6.6, 8.1, 10.2, 5.9, 1.1, 0.2, 7.4, 3.6];
const TREES = ["Add rate limiting to the API", "Refactor the session store", "Fix the flaky test in the parser", "Plan the migration", "Try the new tokenizer"];

/** Not a test: makes the pictures of the cost page. What is shown is real, but the days are moved: nobody waits a month. */
test("screenshots of cost", async () => {
  const key = await on.server.key();
  const { page } = await visit(on.browser, on.server);
  for (const [index, title] of TREES.entries()) {
    const prompt = `cost ${(18 / (index + 1)).toFixed(2)}\nsay ${"word ".repeat(400 - index * 60)}`;
    await on.server.rest(key, "POST", "/sessions", { agent: "echo", title, prompt });
  }
  await expect.poll(async () => (await on.server.rest(key, "GET", "/usage")).total, { timeout: 20_000 }).toMatchObject({ turns: TREES.length });
  await page.route("**/api/v1/usage?*", async (route) => {
    const answer = await route.fetch();
    const report = (await answer.json()) as { total: Record<string, number>; days: unknown[] };
    const last = Date.now();
    // The days add up to what was really told.
    const scale = (report.total.cost_micros ?? 0) / DAYS.reduce((sum, dollars) => sum + dollars, 0);
    report.days = DAYS.map((dollars, index) => ({
      ...report.total,
      day: new Date(last - (DAYS.length - 1 - index) * 86_400_000).toISOString().slice(0, 10),
      cost_micros: Math.round(dollars * scale),
    }));
    await route.fulfill({ response: answer, json: report });
  });
  const shot = async (name: string, theme: string) => {
    await page.evaluate((value) => localStorage.setItem("wheelhouse-theme", value), theme);
    await page.goto(`${on.server.url}/cost`);
    await page.getByRole("img", { name: /^Cost by day/ }).waitFor();
    await page.screenshot({ path: `${FOLDER}${name}.png` });
  };
  await page.setViewportSize({ width: 1280, height: 800 });
  await shot("cost", "light");
  await shot("cost-dark", "dark");
  await page.setViewportSize({ width: 390, height: 844 });
  await shot("cost-phone", "light");
});

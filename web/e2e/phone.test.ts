import { expect, test } from "vitest";

import { conversation, idle, startSession, visit } from "./browser";
import { stage } from "./stage";

const on = stage();

test("on a phone the tabs bring their pane into view", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  await startSession(page, "say small");
  await idle(page);
  await page.setViewportSize({ width: 390, height: 844 });
  for (const name of ["Turns", "Settings", "Settings"]) {
    await conversation(page).scrollIntoViewIfNeeded();
    await page.getByRole("tab", { name }).click();
    const pane = page.getByRole("tabpanel", { name });
    await expect.poll(async () => {
      const box = await pane.boundingBox();
      const seen = Math.min(844, (box?.y ?? 0) + (box?.height ?? 0)) - Math.max(0, box?.y ?? 844);
      return seen > 500;
    }).toBe(true);
  }
  expect(troubles).toEqual([]);
});

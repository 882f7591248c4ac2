import { expect, test } from "vitest";

import { conversation, visit } from "./browser";
import { stage } from "./stage";

const MESSAGES = 50_000;

/** Times (the goals are 1000 ms and 200 ms) are printed and not judged: they say as much about what else the machine does. */
const HEAP_MB_MAX = 150;

const on = stage({ messages: MESSAGES });

test("a conversation of 50 000 messages opens at once and scrolls", async () => {
  const { page, context, troubles } = await visit(on.browser, on.server);
  await page.getByRole("navigation", { name: "Main" }).waitFor();
  await page.addInitScript(() => {
    const noted = window as unknown as { tasks: number[] };
    noted.tasks = [];
    const observer = new PerformanceObserver((list) => noted.tasks.push(...list.getEntries().map((entry) => entry.duration)));
    observer.observe({ type: "longtask", buffered: true });
  });
  const began = Date.now();
  await page.goto(`${on.server.url}/sessions/${on.server.seeded.slice(-8)}`);
  const log = conversation(page);
  const words = log.getByText("this is what was said");
  await words.first().waitFor();
  const opened = Date.now() - began;

  const distance = await log.evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight);
  expect(distance).toBeLessThan(50);
  for (let turn = 0; turn < 40; turn += 1) {
    await log.evaluate((element) => element.scrollBy(0, -2_000));
    await page.waitForTimeout(16);
  }
  for (const part of [0.5, 0]) {
    await log.evaluate((element, at) => element.scrollTo(0, element.scrollHeight * at), part);
    await words.first().waitFor();
  }
  await page.getByRole("button", { name: "Latest" }).click();
  await page.getByRole("button", { name: "Latest" }).waitFor({ state: "detached" });

  const longest = await page.evaluate(() => Math.max(0, ...(window as unknown as { tasks: number[] }).tasks));
  const inspector = await context.newCDPSession(page);
  await inspector.send("HeapProfiler.collectGarbage");
  const heap = (await inspector.send("Runtime.getHeapUsage")).usedSize / 1e6;
  const figures = `opened in ${opened} ms, longest task ${Math.round(longest)} ms, heap ${heap.toFixed(1)} MB`;
  console.log(`figure: ${MESSAGES} messages: ${figures}`);
  expect(heap).toBeLessThan(HEAP_MB_MAX);
  expect(troubles).toEqual([]);
});

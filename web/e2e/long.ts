import { expect } from "vitest";

import { conversation, type Visit } from "./browser";
import type { TestServer } from "./server";

/** How long the conversation is that is opened and scrolled. */
export const LONG_MESSAGES = 50_000;

/** What a long conversation cost its reader. */
export interface LongFigures {
  /** Until the latest words are seen. */
  openedMs: number;
  /** The longest time for which nothing else could be done, while the page came up. */
  openTaskMs: number;
  /** The same while it was scrolled. */
  scrollTaskMs: number;
  heapMb: number;
}

/** Opens the conversation that the server was seeded with, scrolls through it as people do, and jumps to its ends. */
export async function readLong({ page, context }: Visit, server: TestServer): Promise<LongFigures> {
  await page.getByRole("navigation", { name: "Main" }).waitFor();
  await page.addInitScript(() => {
    const noted = window as unknown as { tasks: number[] };
    noted.tasks = [];
    const observer = new PerformanceObserver((list) => noted.tasks.push(...list.getEntries().map((entry) => entry.duration)));
    observer.observe({ type: "longtask", buffered: true });
  });
  /** The longest since it was asked for last. */
  const longest = () =>
    page.evaluate(() => Math.max(0, ...(window as unknown as { tasks: number[] }).tasks.splice(0)));
  const began = Date.now();
  await page.goto(`${server.url}/sessions/${server.seeded.slice(-8)}`);
  const log = conversation(page);
  const words = log.getByText("this is what was said");
  await words.first().waitFor();
  const openedMs = Date.now() - began;
  const distance = await log.evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight);
  expect(distance).toBeLessThan(50);
  // What the page still does by itself belongs to its coming up.
  await page.waitForTimeout(500);
  const openTaskMs = await longest();

  for (let turn = 0; turn < 40; turn += 1) {
    await log.evaluate((element) => element.scrollBy(0, -2_000));
    await page.waitForTimeout(16);
  }
  for (const part of [0.5, 0.25, 0.75, 0]) {
    await log.evaluate((element, at) => element.scrollTo(0, element.scrollHeight * at), part);
    await words.first().waitFor();
  }
  await page.getByRole("button", { name: "Latest" }).click();
  await page.getByRole("button", { name: "Latest" }).waitFor({ state: "detached" });
  const scrollTaskMs = await longest();

  const inspector = await context.newCDPSession(page);
  await inspector.send("HeapProfiler.collectGarbage");
  const heapMb = (await inspector.send("Runtime.getHeapUsage")).usedSize / 1e6;
  return { openedMs, openTaskMs, scrollTaskMs, heapMb };
}

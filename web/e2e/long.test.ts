import { expect, test } from "vitest";

import { visit } from "./browser";
import { LONG_MESSAGES, readLong } from "./long";
import { stage } from "./stage";

/** Times are printed here and judged by `cargo xtask bench web`: they say as much about what else the machine does. */
const HEAP_MB_MAX = 150;

const on = stage({ messages: LONG_MESSAGES });

test("a conversation of 50 000 messages opens at once and scrolls", async () => {
  const visitor = await visit(on.browser, on.server);
  const { openedMs, openTaskMs, scrollTaskMs, heapMb } = await readLong(visitor, on.server);
  const tasks = `longest task ${Math.round(openTaskMs)} ms meanwhile and ${Math.round(scrollTaskMs)} ms while scrolling`;
  console.log(`figure: ${LONG_MESSAGES} messages: opened in ${openedMs} ms, ${tasks}, heap ${heapMb.toFixed(1)} MB`);
  expect(heapMb).toBeLessThan(HEAP_MB_MAX);
  expect(visitor.troubles).toEqual([]);
});

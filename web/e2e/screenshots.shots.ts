import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { test } from "vitest";

import { visit } from "./browser";
import { stage } from "./stage";

const FOLDER = fileURLToPath(new URL("../../docs/images/", import.meta.url));

const on = stage();

const STORIES: [string, string][] = [
  ["Fix the flaky test in the parser", "say The test waited for a second instead of for the event.\nwrite src/parser.rs fn parse() {}"],
  ["Refactor the session store", "say Two modules are moved, the third is next.\nsleep 600"],
  ["Plan the migration", "question Which database should it use?"],
  ["Try the new tokenizer", "crash"],
  [
    "Add rate limiting to the API",
    "say I added **rate limiting** to the API, and wrote down what it means in `README.md`:\nsay\nsay - 600 calls a minute for each key\nsay - the answer says when to try again\n" +
      "write src/limits.rs pub const CALLS_PER_MINUTE: u32 = 600;\nwrite README.md 600 calls a minute for each key.\nask Run the tests: cargo test --workspace",
  ],
];

/** Not a test: makes the pictures of the documents. */
test("screenshots", async () => {
  await mkdir(FOLDER, { recursive: true });
  const key = await on.server.key();
  const repo = await on.server.rest(key, "POST", "/repos", { source: await on.server.repo("gateway") });
  for (const [title, prompt] of STORIES) {
    await on.server.rest(key, "POST", "/sessions", { agent: "echo", repo: repo.id, title, prompt });
  }
  const { page } = await visit(on.browser, on.server);
  const shot = (name: string) => page.screenshot({ path: `${FOLDER}${name}.png` });
  const diff = page.getByRole("tabpanel", { name: "Diff" });
  /** Calls `look` in the light, in the dark, and on a phone, with what the picture's name ends in. */
  const inAllWays = async (look: (way: string) => Promise<unknown>) => {
    for (const [way, theme, width, height] of [
      ["", "light", 1280, 800],
      ["-dark", "dark", 1280, 800],
      ["-phone", "light", 390, 844],
    ] as const) {
      await page.setViewportSize({ width, height });
      await page.evaluate((value) => localStorage.setItem("wheelhouse-theme", value), theme);
      await page.reload();
      await look(way);
    }
  };
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByText("interrupted", { exact: true }).waitFor();
  await page.getByRole("region", { name: /^Ready \d/ }).getByRole("link", { name: /flaky/ }).getByText("idle").waitFor();
  await page.getByRole("region", { name: /^Needs you 3/ }).waitFor();
  await shot("sessions");
  await page.getByRole("link", { name: /rate limiting/ }).click();
  await page.getByRole("button", { name: "Allow once" }).waitFor();
  await diff.getByRole("button", { name: "Comment on line 1 of src/limits.rs" }).click();
  await diff.getByRole("textbox").fill("make this a setting");
  await diff.getByRole("button", { name: "Add comment" }).click();
  await inAllWays(async (way) => {
    await page.getByRole("button", { name: "Allow once" }).waitFor();
    await diff.getByText("make this a setting").waitFor();
    await shot(`session${way}`);
    await diff.screenshot({ path: `${FOLDER}diff${way}.png` });
  });
  await page.getByRole("link", { name: /^Inbox/ }).click();
  await inAllWays(async (way) => {
    await page.getByRole("textbox", { name: "Your answer" }).waitFor();
    await shot(`inbox${way}`);
  });
});

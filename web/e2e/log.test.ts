import { expect, test } from "vitest";

import { inState, startSession, visit } from "./browser";
import { stage } from "./stage";

const on = stage();

test("what an agent wrote to its terminal is shown when its process is gone", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  await startSession(page, "stderr \u001b[31mout of \u001b]0;title\u0007memory\u001b[0m\ncrash");
  await inState(page, "interrupted");
  await page.getByRole("tab", { name: "Log" }).click();
  const log = page.getByRole("tabpanel", { name: "Log" });
  await log.getByText(/killed by signal/).waitFor();
  expect(await log.getByLabel("Log of run 1").innerText()).toBe("out of memory");
  await page.getByRole("textbox", { name: "Prompt" }).fill("say again");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await log.getByText("Run 2").waitFor();
  await log.getByText("went on with its conversation").waitFor();
  expect(troubles).toEqual([]);
});

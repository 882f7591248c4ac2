import { expect, test } from "vitest";

import { inState, startSession, visit } from "./browser";
import { stage } from "./stage";

const on = stage();

test("what an agent writes to its terminal is shown while it is at work", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  await startSession(page, "stderr waiting for the network\nquestion go on?\nstderr \u001b[31mgave up\u001b[0m\nquestion and on?");
  await page.getByRole("tab", { name: "Log" }).click();
  const log = page.getByRole("tabpanel", { name: "Log" });
  const lines = log.getByLabel("Log of run 1");
  await lines.getByText("waiting for the network").waitFor();
  expect(await log.getByText("running").count()).toBe(1);
  const question = page.getByRole("region", { name: "The agent has a question" });
  await question.getByLabel("Your answer").fill("yes");
  await question.getByRole("button", { name: "Answer" }).click();
  await lines.getByText("gave up").waitFor();
  expect(await lines.innerText()).toBe("waiting for the network\ngave up");
  expect(troubles).toEqual([]);
});

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

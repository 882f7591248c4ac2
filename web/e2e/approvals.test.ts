import { expect, test } from "vitest";

import { conversation, idle, inState, said, send, startSession, visit } from "./browser";
import { stage } from "./stage";

const on = stage();

test("allow once, always, and deny with a reason", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  await startSession(page, "ask delete the build folder");
  const asked = page.getByRole("region", { name: "The agent asks for permission" });
  await asked.getByText("delete the build folder").waitFor();
  await expect.poll(() => page.title()).toMatch(/^\(1\) /);
  await asked.getByRole("button", { name: "Allow once" }).click();
  await said(page, "delete the build folder: allow");
  await idle(page);
  await asked.waitFor({ state: "detached" });
  await expect.poll(() => page.title()).not.toMatch(/^\(/);

  await send(page, "ask run the tests");
  await asked.getByRole("button", { name: "Always allow" }).click();
  await said(page, "run the tests: always");

  await send(page, "ask push to main");
  await asked.getByRole("button", { name: "Deny…" }).click();
  await asked.getByLabel("Reason (optional)").fill("not on a Friday");
  await asked.getByRole("button", { name: "Deny", exact: true }).click();
  await said(page, "push to main: reject");
  await idle(page);
  // What came of asking stands where it was asked for.
  const call = conversation(page).getByRole("group").filter({ hasText: "push to main" });
  await call.getByText("denied").first().waitFor();
  await call.locator("summary").click();
  await call.getByText("denied by admin: not on a Friday").waitFor();
  const answers = await on.server.cli("approvals", "--all", "--json");
  expect(answers).toContain("not on a Friday");
  expect(troubles).toEqual([]);
});

test("the inbox holds what needs you: questions, permissions, failures", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  await startSession(page, "question which colour?");
  await page.getByRole("region", { name: "The agent has a question" }).waitFor();
  await page.getByRole("link", { name: "All sessions" }).click();
  await page.getByRole("link", { name: /Asks: which colour\?/ }).click();
  await page.getByRole("link", { name: "Inbox 1 waiting" }).click();
  // The session's page has the same question.
  await page.getByRole("heading", { level: 1, name: "Inbox" }).waitFor();
  const question = page.getByRole("region", { name: "The agent has a question" });
  await question.getByText("which colour?", { exact: true }).waitFor();
  await question.getByText(/· expires in \d+ h$/).waitFor();
  await question.getByLabel("Your answer").fill("teal");
  await question.getByRole("button", { name: "Answer" }).click();
  await page.getByText("Nothing needs you").waitFor();

  await page.goBack();
  await said(page, "teal");
  await idle(page);
  const talk = page.getByRole("log").getByRole("article");
  await talk.filter({ hasText: "Agent asks" }).getByText("which colour?", { exact: true }).waitFor();
  await talk.filter({ hasText: "Answer of admin" }).getByText("teal", { exact: true }).waitFor();
  await send(page, "crash");
  await inState(page, "interrupted");
  await page.getByRole("link", { name: "Inbox 1 waiting" }).click();
  await expect.poll(() => page.title()).toBe("(1) Inbox · Wheelhouse");
  const broken = page.getByRole("region", { name: "Failed or interrupted" });
  await broken.getByText("Its process ended while it was at work.").waitFor();
  await broken.getByRole("button", { name: "Resume question which colour?" }).click();
  await page.getByText("Nothing needs you").waitFor();
  await page.goBack();
  await idle(page);
  await send(page, "crash");
  await inState(page, "interrupted");
  await page.getByRole("link", { name: "Inbox" }).click();
  await broken.getByRole("button", { name: /^Archive/ }).click();
  await page.getByText("Nothing needs you").waitFor();
  expect(await page.title()).toBe("Inbox · Wheelhouse");

  await on.server.cli("run", "--scratch", "--agent", "echo", "--detach", "--budget-turns", "1", "say all of it");
  const spent = page.getByRole("region", { name: "Budget used up" });
  await spent.getByText("Its budget of turns is used up.").waitFor();
  await spent.getByRole("button", { name: "Archive say all of it" }).click();
  await page.getByText("Nothing needs you").waitFor();
  expect(troubles).toEqual([]);
});

test("a new question is heard, once sound is switched on", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  const notes = () => page.evaluate(() => Number(document.documentElement.dataset.notes ?? 0));
  const count = () =>
    page.evaluate(() => {
      const create = AudioContext.prototype.createOscillator;
      AudioContext.prototype.createOscillator = function () {
        const heard = document.documentElement.dataset;
        heard.notes = String(Number(heard.notes ?? 0) + 1);
        return create.call(this);
      };
    });
  await page.getByRole("link", { name: /^Inbox/ }).click();
  await count();
  const other = await on.server.cli("run", "--scratch", "--agent", "echo", "--detach", "question silent?");
  await page.getByText("silent?", { exact: true }).waitFor();
  expect(await notes()).toBe(0);
  await page.getByRole("button", { name: "Sound", pressed: false }).click();
  await page.getByRole("button", { name: "Sound", pressed: true }).waitFor();
  expect(await notes()).toBe(2);
  await on.server.cli("answer", other.trim(), "yes");
  await on.server.cli("run", "--scratch", "--agent", "echo", "--detach", "question loud?");
  await expect.poll(notes).toBe(4);
  await on.server.cli("run", "--scratch", "--agent", "echo", "--detach", "crash");
  await expect.poll(notes).toBe(6);
  expect(troubles).toEqual([]);
});

test("steering ends the turn that runs, and an interrupt ends it for good", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  await startSession(page, "say working\nsleep 60");
  await said(page, "working");
  await send(page, "say this waits");
  await page.getByText("1 queued prompt").waitFor();
  await page.getByText("“say this waits”").waitFor();
  await page.getByLabel("While running").selectOption("Interrupt and send now");
  await send(page, "say steered\nsleep 60");
  await said(page, "steered");
  await said(page, "the turn was interrupted to run the next prompt");
  await page.getByRole("button", { name: "Interrupt", exact: true }).click();
  await said(page, "this waits");
  await said(page, "the turn was interrupted");
  await idle(page);
  expect(await conversation(page).getByText("this waits", { exact: true }).count()).toBe(1);
  expect(troubles).toEqual([]);
});

test("queued prompts are shown in the order in which they run, and each can be cancelled", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  await startSession(page, "say busy\nsleep 60");
  await said(page, "busy");
  for (const words of ["first", "second", "third", "fourth"]) {
    await send(page, `say ${words}`);
    await page.getByText(`“say ${words}”`).waitFor();
  }
  const queue = page.getByRole("region", { name: "Queued prompts" });
  const shown = () => queue.getByRole("listitem").getByText(/^“/).allInnerTexts();
  expect(await shown()).toEqual(["“say first”", "“say second”", "“say third”", "“say fourth”"]);
  await queue.getByRole("button", { name: "Cancel the queued prompt say second" }).click();
  await expect.poll(shown).toEqual(["“say first”", "“say third”", "“say fourth”"]);
  await page.getByRole("button", { name: "Interrupt", exact: true }).click();
  await said(page, "fourth");
  await idle(page);
  await queue.waitFor({ state: "detached" });
  expect(await conversation(page).getByText("second", { exact: true }).count()).toBe(0);
  expect(await conversation(page).getByText("third", { exact: true }).count()).toBe(1);
  expect(troubles).toEqual([]);
});

test("a long queue is shown whole on request", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  await startSession(page, "say occupied\nsleep 60");
  await said(page, "occupied");
  const session = new URL(page.url()).pathname.split("/").pop() ?? "";
  const key = await on.server.key();
  for (let number = 1; number <= 12; number += 1) {
    await on.server.rest(key, "POST", `/sessions/${session}/prompts`, { prompt: `say number ${number}` });
  }
  const queue = page.getByRole("region", { name: "Queued prompts" });
  await queue.getByText("12 queued prompts").waitFor();
  await queue.getByText("“say number 10”").waitFor();
  expect(await queue.getByText("“say number 11”").count()).toBe(0);
  await queue.getByRole("button", { name: "Show 2 more" }).click();
  await queue.getByRole("button", { name: "Cancel the queued prompt say number 12" }).click();
  await queue.getByText("11 queued prompts").waitFor();
  expect(await queue.getByText("“say number 12”").count()).toBe(0);
  await queue.getByText("“say number 11”").waitFor();
  expect(troubles).toEqual([]);
});

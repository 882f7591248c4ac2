import { expect, test } from "vitest";

import { conversation, visit } from "./browser";
import { stage } from "./stage";

const on = stage();

/** Has echo do the next task and say so; the last iteration finds none and says that the work is done. */
const TEMPLATE = [
  "{% if next %}",
  'call task_next {"claim": true}',
  "{{ next.content }}",
  'call task_update {"task": "{{ next.number }}", "status": "completed"}',
  'call note_add {"notes": [{"kind": "tip", "content": "a tip from {{ next.number }}"}]}',
  'call iteration_summary {"summary": "did task {{ next.number }}"}',
  "{% else %}",
  'call iteration_summary {"summary": "all is done"}',
  "call loop_complete {}",
  "{% endif %}",
].join("\n");

test("a loop is started by the form and followed to its end", async () => {
  const repo = await on.server.repo();
  const { page, troubles } = await visit(on.browser, on.server);
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Loops" }).click();
  await page.getByText("No loop yet").waitFor();
  await page.getByRole("button", { name: "New loop" }).click();
  const form = page.getByRole("form", { name: "Start a loop" });
  await form.getByLabel("Path or address of a repository").fill(repo);
  await form.getByRole("radio", { name: /^Echo/ }).check();
  await form.getByLabel("What is to be done?").fill("Write two files");
  await form.getByLabel(/^Tasks to begin with/).fill("write one.txt 1\n\nwrite two.txt 2");
  await form.getByLabel(/^One after the other/).check();
  await form.getByLabel(/^Let the agent do everything/).check();
  await form.getByLabel("Iterations").fill("5");
  await form.getByLabel("Tokens").fill("1000000");
  await form.getByText("Branch and template").click();
  await form.getByLabel(/^Template/).fill(TEMPLATE);
  await form.getByRole("button", { name: "Start loop" }).click();

  await page.waitForURL(/\/loops\/[0-9a-f]{8}$/);
  await page.getByText(/2 of 2 tasks done/).waitFor();
  await page.getByRole("heading", { level: 1, name: /Write two files/ }).getByText("completed", { exact: true }).waitFor();
  const iterations = page.getByRole("region", { name: "Iterations" });
  for (const words of ["did task 1", "did task 2", "all is done"]) {
    await iterations.getByText(words, { exact: true }).waitFor();
  }
  await page.getByRole("region", { name: "Notes" }).getByText("a tip from 2").waitFor();
  await page.getByRole("region", { name: "About this loop" }).getByText(/1,000,000 tokens/).first().waitFor();
  await expect.poll(() => page.getByRole("list", { name: "Entries of the log" }).getByRole("listitem").count()).toBeGreaterThan(3);
  expect(await page.getByRole("button", { name: "Stop" }).count()).toBe(0);

  const address = page.url();
  await iterations.getByRole("link", { name: "session of iteration 1" }).click();
  await conversation(page).getByText(/one\.txt/).first().waitFor();
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Loops" }).click();
  const past = page.getByRole("region", { name: "Past loops" });
  await past.getByText("2 of 2 tasks done").waitFor();
  await past.getByRole("link", { name: "Write two files" }).click();
  await page.waitForURL(address);
  expect(troubles).toEqual([]);
});

test("a refusal of the server is shown in the form, and a loop is paused and stopped on its page", async () => {
  const repo = await on.server.repo("other");
  const { page, troubles } = await visit(on.browser, on.server);
  await page.goto(`${on.server.url}/loops`);
  await page.getByRole("button", { name: "New loop" }).click();
  const form = page.getByRole("form", { name: "Start a loop" });
  await form.getByLabel("Path or address of a repository").fill(repo);
  await form.getByRole("radio", { name: /^Echo/ }).check();
  await form.getByLabel("What is to be done?").fill("Sleep");
  await form.getByText("Branch and template").click();
  await form.getByLabel(/^Template/).fill("{{ nonsense.here }}");
  // The repository is added and the loop refused; that the list has it now is heard of later.
  const lists = /\/api\/v1\/repos/;
  await page.route(lists, (route) => (route.request().method() === "GET" ? undefined : route.continue()));
  await form.getByRole("button", { name: "Start loop" }).click();
  await form.getByRole("alert").waitFor();
  await form.getByLabel(/^Template/).fill("sleep 600");
  await form.getByRole("button", { name: "Start loop" }).click();
  await page.waitForURL(/\/loops\/[0-9a-f]{8}$/);
  await page.unroute(lists);
  await page.getByRole("region", { name: "Iterations" }).getByText("Iteration 1", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByText("running, pause asked for").waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("heading", { level: 1 }).getByText("stopped", { exact: true }).waitFor();
  expect(troubles).toEqual([]);
});

test("a loop that reached its limit is resumed with more by the form on its page", async () => {
  const repo = await on.server.repo("limited");
  const { page, troubles } = await visit(on.browser, on.server);
  await page.goto(`${on.server.url}/loops`);
  await page.getByRole("button", { name: "New loop" }).click();
  const form = page.getByRole("form", { name: "Start a loop" });
  await form.getByLabel("Path or address of a repository").fill(repo);
  await form.getByRole("radio", { name: /^Echo/ }).check();
  await form.getByLabel("What is to be done?").fill("Count");
  await form.getByLabel("Iterations").fill("1");
  await form.getByText("Branch and template").click();
  await form.getByLabel(/^Template/).fill("write count.txt {{ loop.iteration }}");
  await form.getByRole("button", { name: "Start loop" }).click();

  const limits = page.getByRole("form", { name: "Resume with other limits" });
  await limits.getByLabel("Maximum number of iterations").fill("2");
  await limits.getByLabel("US dollars").fill("5");
  await limits.getByRole("button", { name: "Resume with these limits" }).click();
  await page.getByText(/^Iteration 2 of at most 2/).waitFor();
  await limits.waitFor();
  // What is too little is refused in the form, in the words of the server.
  await limits.getByRole("button", { name: "Resume with these limits" }).click();
  await limits.getByRole("alert").getByText(/2 of at most 2 iterations/).waitFor();
  await page.getByRole("region", { name: "About this loop" }).getByText("$5.00").first().waitFor();
  expect(troubles).toEqual([]);
});

import { readFile } from "node:fs/promises";

import { expect, test } from "vitest";

import { conversation, idle, send, startSession, visit } from "./browser";
import { stage } from "./stage";

const on = stage();

const PNG = Buffer.from("89504e470d0a1a0a00", "hex");

test("files go with a prompt, are named in the conversation, and can be kept", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  await startSession(page, "say ready");
  await idle(page);
  await page.getByLabel("Files to send along").setInputFiles([
    { name: "shot.png", mimeType: "image/png", buffer: PNG },
    { name: "notes <b>.txt", mimeType: "text/html", buffer: Buffer.from("buy milk") },
    { name: "wrong.txt", mimeType: "text/plain", buffer: Buffer.from("x") },
  ]);
  const chosen = page.getByRole("list", { name: "Files that go along" });
  await chosen.getByRole("button", { name: "Leave out wrong.txt" }).click();
  expect(await chosen.getByRole("listitem").count()).toBe(2);
  await send(page, "files");
  await conversation(page).getByText("image shot.png image/png 9 bytes").waitFor();
  await idle(page);
  await chosen.waitFor({ state: "detached" });

  const sent = conversation(page).getByRole("list", { name: "Files sent along" });
  const kept = page.waitForEvent("download");
  await sent.getByRole("button", { name: /notes <b>\.txt/ }).click();
  const copy = await kept;
  expect(await readFile(await copy.path(), "utf8")).toBe("buy milk");

  await page.getByLabel("Files to send along").setInputFiles({
    name: "big.bin",
    mimeType: "application/octet-stream",
    buffer: Buffer.alloc((8 << 20) + 1),
  });
  await page.getByText("big.bin was left out").first().waitFor();
  expect(troubles).toEqual([]);
});

test("a session begins with files", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  await page.getByRole("link", { name: "New session" }).first().click();
  await page.getByLabel("An empty directory, without a repository").check();
  await page.getByRole("radio", { name: /^Echo/ }).check();
  await page
    .getByLabel("Files to send along")
    .setInputFiles({ name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("buy milk") });
  await page.getByRole("list", { name: "Files that go along" }).getByText("notes.txt").waitFor();
  const start = page.getByRole("button", { name: "Start session" });
  expect(await start.isDisabled()).toBe(true);
  await page.getByLabel("What should it do?").fill("files");
  await start.click();
  await conversation(page).getByText("resource notes.txt text/plain 8 bytes").waitFor();
  await conversation(page).getByRole("list", { name: "Files sent along" }).getByText("notes.txt").waitFor();
  expect(troubles).toEqual([]);
});

import { expect, test } from "vitest";

import { idle, startSession, visit } from "./browser";
import { stage } from "./stage";

const on = stage();

test("a key is made, shown once, used and revoked", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  await page.getByRole("link", { name: "Keys" }).click();
  await page.getByText("No keys yet").waitFor();
  await page.getByRole("button", { name: "New key" }).click();
  const dialog = page.getByRole("dialog", { name: "New key" });
  await dialog.getByLabel("Name").fill("ci");
  await dialog.getByLabel("What it may do").selectOption("read");
  await dialog.getByRole("button", { name: "Create key" }).click();
  const secret = await page.getByLabel("Secret key").innerText();
  expect(secret).toMatch(/^wh_read_[0-9a-f]{32}$/);
  await page.getByRole("button", { name: "Done" }).click();

  const row = page.getByRole("row", { name: /ci/ });
  await row.getByText("active").waitFor();
  await page.reload();
  await row.getByText("active").waitFor();
  expect(await page.getByText(secret).count()).toBe(0);
  const whoami = () => fetch(`${on.server.url}/api/v1/whoami`, { headers: { authorization: `Bearer ${secret}` } });
  expect((await whoami()).status).toBe(200);

  await row.getByRole("button", { name: "Revoke ci" }).click();
  await page.getByRole("dialog", { name: "Revoke ci?" }).getByRole("button", { name: "Revoke" }).click();
  await row.getByText("revoked").waitFor();
  expect((await whoami()).status).toBe(401);
  expect(troubles).toEqual([]);
});

test("a key of a dialect is created with an expiry, to read or for one session alone", async () => {
  const { page, troubles } = await visit(on.browser, on.server);
  await startSession(page, "say hello");
  await idle(page);
  const session = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  await page.getByRole("link", { name: "Keys" }).click();
  const dialog = page.getByRole("dialog", { name: "New key" });
  const create = async (name: string, scope: string) => {
    await page.getByRole("button", { name: "New key" }).click();
    await dialog.getByRole("textbox", { name: "Name" }).fill(name);
    await dialog.getByLabel("For").selectOption("clawed-abode");
    await dialog.getByLabel("What it may do").selectOption(scope);
    await dialog.getByLabel("Expires").selectOption("30");
    if (scope === "session_internal") {
      await dialog.getByLabel(/^Session/).fill(session);
    }
    await dialog.getByRole("button", { name: "Create key" }).click();
    const secret = await page.getByLabel("Secret key").innerText();
    await page.getByRole("button", { name: "Done" }).click();
    return secret;
  };
  const call = async (secret: string, tool: string, given: Record<string, unknown>) => {
    const answer = await fetch(`${on.server.url}/api/mcp`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool, arguments: given } }),
    });
    return answer.text();
  };

  const read = await create("monitor", "read");
  expect(read).toMatch(/^ca_read_[0-9a-f]{32}$/);
  expect(await call(read, "list_sessions", {})).toContain(session);
  expect(await call(read, "interrupt_session", { sessionId: session })).toContain("FORBIDDEN");
  const bound = await create("renames itself", "session_internal");
  expect(bound).toMatch(/^ca_sess_[0-9a-f]{32}$/);
  expect(await call(bound, "set_session_name", { name: "Its own name" })).toContain("Its own name");
  expect(await call(bound, "list_sessions", {})).toContain("FORBIDDEN");

  const row = page.getByRole("row", { name: /monitor/ });
  await row.getByText("clawed-abode").waitFor();
  expect(await row.getByRole("cell").nth(4).innerText()).toMatch(/\d/);
  await page.getByRole("row", { name: /renames itself/ }).getByText(`session ${session}`).waitFor();
  expect(troubles).toEqual([]);
});

import type { Locator, Page } from "playwright-core";

import type { TestServer } from "./server";

export const zone = (page: Page, name: string) => page.getByRole("region", { name: `Zone ${name}` });
export const card = (page: Page, title: string) => page.getByRole("article", { name: `Session ${title}` });

/** Returns where something is, once it has come to rest: the canvas fits its view a few frames after it was asked to. */
export async function box(locator: Locator) {
  for (let before = ""; ; ) {
    const found = await locator.boundingBox();
    if (!found) throw new Error("it is not shown");
    const now = JSON.stringify(found);
    if (now === before) return found;
    before = now;
    await locator.evaluate((element) => {
      const frames = (left: number, done: () => void) => {
        if (left === 0) done();
        else element.ownerDocument.defaultView?.requestAnimationFrame(() => frames(left - 1, done));
      };
      return new Promise<void>((done) => frames(6, done));
    });
  }
}

/** Takes hold of something by its middle, or a point of it, and lets go of it at another. */
export async function drag(page: Page, from: { x: number; y: number }, to: { x: number; y: number }): Promise<void> {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(from.x + 5, from.y + 5);
  await page.mouse.move(to.x, to.y, { steps: 8 });
  await page.mouse.up();
}

export const middle = async (locator: Locator) => {
  const { x, y, width, height } = await box(locator);
  return { x: x + width / 2, y: y + height / 2 };
};

/** Makes a session, and a board by the page. */
export async function begin(server: TestServer, page: Page, title: string, name: string): Promise<string> {
  const key = await server.key();
  const session = await server.rest(key, "POST", "/sessions", { agent: "echo", title, prompt: "say at your service" });
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Boards" }).click();
  await page.getByRole("button", { name: "New board" }).click();
  await page.getByLabel("Name").fill(name);
  await page.getByRole("button", { name: "Make board" }).click();
  await page.getByText("Nothing is on this board yet").waitFor();
  return String(session.id).slice(-8);
}

export async function makeZone(page: Page, name: string, prompt: string): Promise<void> {
  await page.getByRole("button", { name: "New zone" }).click();
  const form = page.getByRole("dialog", { name: "New zone" });
  await form.getByLabel("Name").fill(name);
  await form.getByLabel(/^Prompt/).fill(prompt);
  await form.getByRole("radio", { name: "Violet" }).check();
  await form.getByRole("button", { name: "Make zone" }).click();
  await zone(page, name).waitFor();
}

export async function add(page: Page, title: string, kind = "Sessions"): Promise<void> {
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("region", { name: kind }).getByRole("button", { name: `Add ${title}` }).click();
  await page.keyboard.press("Escape");
}

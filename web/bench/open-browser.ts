import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { chromium, type Page } from "playwright-core";

import { CHROMIUM } from "../e2e/browser";
import type { TestServer } from "../e2e/server";

const run = promisify(execFile);
const SCRIPT = fileURLToPath(new URL("./lighthouse.mjs", import.meta.url));
const PAGES_WITHIN_MS = 300_000;

/** What Lighthouse says of a page. */
export interface Score {
  address: string;
  /** Of 100. */
  score: number;
  /** What it found wrong. */
  failed: string[];
}

/** A signed-in browser that another program can drive as well: Lighthouse brings its own way to. */
export class OpenBrowser {
  private constructor(
    private readonly profile: string,
    private readonly port: string,
    readonly page: Page,
  ) {}

  static async start(server: TestServer): Promise<OpenBrowser> {
    const profile = await mkdtemp(path.join(tmpdir(), "wh-profile-"));
    const args = [...CHROMIUM.args, "--remote-debugging-port=0"];
    const context = await chromium.launchPersistentContext(profile, { ...CHROMIUM, args });
    const page = context.pages()[0] ?? (await context.newPage());
    await page.goto(await server.loginLink());
    const [port = ""] = (await readFile(path.join(profile, "DevToolsActivePort"), "utf8")).split("\n");
    return new OpenBrowser(profile, port, page);
  }

  /** Has every address looked at. */
  async accessibility(addresses: string[]): Promise<Score[]> {
    const { stdout } = await run(process.execPath, [SCRIPT, this.port, ...addresses], { timeout: PAGES_WITHIN_MS });
    const scores = stdout.trim().split("\n").map((line) => JSON.parse(line) as Score);
    scores.forEach(({ address }, index) => {
      if (address !== addresses[index]) {
        throw new Error(`${addresses[index]} was looked at, and ${address} was shown`);
      }
    });
    return scores;
  }

  async close(): Promise<void> {
    await this.page.context().close();
    await rm(this.profile, { recursive: true, force: true });
  }
}

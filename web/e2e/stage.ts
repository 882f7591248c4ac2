import type { Browser } from "playwright-core";
import { afterAll, beforeAll } from "vitest";

import { launch } from "./browser";
import { TestServer } from "./server";

/** A server and a browser for the tests of one file. */
export interface Stage {
  server: TestServer;
  browser: Browser;
}

interface Options {
  /** The server's configuration. */
  config?: string;
  /** How many messages the session has that is there from the beginning. */
  messages?: number;
  /** How many sessions there are from the beginning, and how many older ones have failed. */
  sessions?: number;
  failed?: number;
}

/** Makes both before the first test of a file, and ends them after the last. */
export function stage({ config = "", messages, sessions, failed }: Options = {}): Stage {
  const made = {} as Stage;
  const seed = Object.entries({ mixed: messages, sessions, failed }).flatMap(([name, count]) => (count ? [`--${name}`, String(count)] : []));
  beforeAll(async () => {
    [made.server, made.browser] = await Promise.all([TestServer.start(config, seed), launch()]);
  });
  afterAll(async () => {
    await made.browser?.close();
    await made.server?.close();
  });
  return made;
}

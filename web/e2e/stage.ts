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
}

/** Makes both before the first test of a file, and ends them after the last. */
export function stage({ config = "", messages = 0 }: Options = {}): Stage {
  const made = {} as Stage;
  beforeAll(async () => {
    [made.server, made.browser] = await Promise.all([TestServer.start(config, messages), launch()]);
  });
  afterAll(async () => {
    await made.browser?.close();
    await made.server?.close();
  });
  return made;
}

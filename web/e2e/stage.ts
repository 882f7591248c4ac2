import type { Browser } from "playwright-core";
import { afterAll, beforeAll } from "vitest";

import { launch } from "./browser";
import { TestServer } from "./server";

/** A server and a browser for the tests of one file. */
export interface Stage {
  server: TestServer;
  browser: Browser;
}

/** Makes both before the first test of a file, and ends them after the last. `config` is the server's configuration. */
export function stage(config = ""): Stage {
  const made = {} as Stage;
  beforeAll(async () => {
    [made.server, made.browser] = await Promise.all([TestServer.start(config), launch()]);
  });
  afterAll(async () => {
    await made.browser?.close();
    await made.server?.close();
  });
  return made;
}

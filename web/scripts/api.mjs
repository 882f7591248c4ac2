// Writes src/api/schema.d.ts from the server's OpenAPI document. The document is read from the snapshot that a Rust test
// compares with what the server serves, so no server has to run. With --check nothing is written, and a difference fails.

import { readFile, writeFile } from "node:fs/promises";

import openapiTS, { astToString } from "openapi-typescript";

const snapshot = new URL(
  "../../crates/wh-http/src/snapshots/wh_http__openapi__tests__the_document_is_as_it_was.snap",
  import.meta.url,
);
const target = new URL("../src/api/schema.d.ts", import.meta.url);
const heading = "// Made by `npm run api` from the server's OpenAPI document; do not edit.\n\n";

const text = await readFile(snapshot, "utf8");
const document = JSON.parse(text.slice(text.indexOf("\n---\n", 4) + 5));
const made = heading + astToString(await openapiTS(document));
const written = await readFile(target, "utf8").catch(() => "");

if (!process.argv.includes("--check")) {
  await writeFile(target, made);
} else if (made !== written) {
  console.error("src/api/schema.d.ts is not what the server's OpenAPI document makes; run `npm run api` in web/");
  process.exit(1);
}

import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

import type { Plugin } from "vite";

/** What is text; the others are compressed already. */
const TEXT = /\.(?:html|js|css|svg)$/;

const FORMS: [ending: string, form: (data: Buffer) => Promise<Buffer>][] = [
  [".br", (data) => promisify(brotliCompress)(data, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: data.length } })],
  [".gz", (data) => promisify(gzip)(data, { level: 9 })],
];

/** Puts the compressed forms of each file beside it, once and as small as can be; the server sends what a browser takes. */
export function compressed(): Plugin {
  return {
    name: "compressed",
    apply: "build",
    async writeBundle({ dir = "" }, bundle) {
      const names = Object.keys(bundle).filter((name) => TEXT.test(name));
      await Promise.all(
        names.map(async (name) => {
          const file = path.join(dir, name);
          const data = await readFile(file);
          for (const [ending, form] of FORMS) {
            const smaller = await form(data);
            if (smaller.length < data.length) {
              await writeFile(file + ending, smaller);
            }
          }
        }),
      );
    },
  };
}

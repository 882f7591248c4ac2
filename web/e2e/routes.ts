import { readFile } from "node:fs/promises";

/**
 * The addresses of all pages, as the router has them: `/loops/$loop`. Read from its source, because it cannot be loaded outside a
 * browser; a test that goes through all pages cannot forget a new one.
 */
export async function routes(): Promise<string[]> {
  const source = await readFile(new URL("../src/routes.tsx", import.meta.url), "utf8");
  const paths = Array.from(source.matchAll(/\n {4}path: "(\/[^"]*)"/g), ([, path]) => path ?? "");
  const count = source.match(/createRoute\(\{/g)?.length ?? 0;
  if (count === 0 || paths.length !== count) {
    throw new Error(`${count} routes, and ${paths.length} addresses were found`);
  }
  return paths;
}

/** Puts ids in place of the names in an address. What is missing is an error. */
export function addressOf(route: string, ids: Record<string, string>): string {
  return route.replace(/\$(\w+)/g, (_, name: string) => {
    const id = ids[name];
    if (!id) {
      throw new Error(`${route} needs ${name}: the test has to make one`);
    }
    return id;
  });
}

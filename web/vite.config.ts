import { fileURLToPath } from "node:url";

import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

import { compressed } from "./scripts/compress.ts";

/** The server that `npm run dev` passes requests on to. */
const server = process.env.WHEELHOUSE_URL ?? "http://127.0.0.1:4180";

/** The server answers only to its own origin, so requests that are passed on must come from it. */
const proxied = { target: server, changeOrigin: true, headers: { origin: server } };

const inBrowser = { environment: "node", testTimeout: 90_000, hookTimeout: 60_000, maxWorkers: 2 };

export default defineConfig({
  plugins: [react(), tailwindcss(), compressed()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  build: {
    outDir: "dist",
    emptyOutDir: true,
    // The policy of the server forbids data: addresses.
    assetsInlineLimit: 0,
    // Nothing that runs inline, nothing that needs an older browser.
    modulePreload: { polyfill: false },
    target: "es2022",
  },
  server: {
    host: "127.0.0.1",
    proxy: { "/api": { ...proxied, ws: true }, "/login": proxied, "/openapi.json": proxied },
  },
  test: {
    projects: [
      { extends: true, test: { name: "unit", include: ["src/**/*.test.ts"], environment: "node" } },
      { extends: true, test: { name: "e2e", include: ["e2e/**/*.test.ts"], ...inBrowser } },
      // What `cargo xtask bench web` measures: one thing at a time.
      { extends: true, test: { name: "figures", include: ["bench/**/*.figures.ts"], ...inBrowser, maxWorkers: 1 } },
      { extends: true, test: { name: "shots", include: ["e2e/**/*.shots.ts"], ...inBrowser } },
    ],
  },
});

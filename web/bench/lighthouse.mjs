// Prints what Lighthouse says of the accessibility of pages, as one line of JSON for each: `node lighthouse.mjs PORT ADDRESS...`.
// PORT is where a browser that is signed in can be driven.
import lighthouse from "lighthouse";

const [port, ...addresses] = process.argv.slice(2);

const FLAGS = {
  port: Number(port),
  output: "json",
  logLevel: "error",
  onlyCategories: ["accessibility"],
  // Whoever is signed in stays it, and so does the theme.
  disableStorageReset: true,
  formFactor: "desktop",
  screenEmulation: { mobile: false, width: 1350, height: 940, deviceScaleFactor: 1, disabled: false },
  throttlingMethod: "provided",
  // The feed of events stays open, so the network is never idle.
  maxWaitForLoad: 5_000,
};

for (const address of addresses) {
  const { lhr } = await lighthouse(address, FLAGS);
  if (lhr.runtimeError) {
    throw new Error(`${address}: ${lhr.runtimeError.message}`);
  }
  const { score, auditRefs } = lhr.categories.accessibility;
  const failed = auditRefs.filter(({ id, weight }) => weight > 0 && lhr.audits[id].score === 0).map(({ id }) => id);
  // A page that sent the browser elsewhere was not looked at.
  console.log(JSON.stringify({ address: lhr.finalDisplayedUrl, score: Math.round(score * 100), failed }));
}

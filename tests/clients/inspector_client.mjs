// Drives the Inspector's command line against a running wheelhouse, a process per call; see README.md.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { boardChecks, check, expect, key, stdio, url, VERSIONS } from './checks.mjs';

const INSPECTOR = fileURLToPath(
  new URL('node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js', import.meta.url),
);
// The Inspector's exit code when the tool's answer is isError; the answer itself is on standard output all the same.
const EXIT_TOOL_ERROR = 5;
// The target comes last: everything from a stdio command on belongs to that command.
const TARGETS = {
  http: { options: ['--header', `Authorization: Bearer ${key}`, '--stored-auth-only'], target: [url] },
  stdio: { options: [], target: stdio },
};

/** Runs the Inspector once; resolves to its exit code and what it printed. */
function inspect({ options, target }, era, args) {
  const argv = [INSPECTOR, '--cli', ...options, '--protocol-era', era, '--format', 'json', '-q', ...args, ...target];
  return new Promise((resolve) => {
    execFile(process.execPath, argv, { timeout: 50_000 }, (error, stdout, stderr) => {
      resolve({ code: error ? (error.code ?? error.signal) : 0, stdout, stderr: stderr.trim() });
    });
  });
}

const asChecked = (target, era) => ({
  listTools: async () => {
    const { code, stdout, stderr } = await inspect(target, era, ['--method', 'tools/list']);
    expect(code === 0, `exit ${code}: ${stderr}`);
    return JSON.parse(stdout).result.tools;
  },
  callTool: async (name, args) => {
    const call = ['--method', 'tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(args)];
    const { code, stdout, stderr } = await inspect(target, era, call);
    if (code === 0) return JSON.parse(stdout).result;
    // The Inspector looks a tool up in tools/list before it calls it.
    if (stderr.includes('tool_not_found')) return { protocolError: stderr };
    expect(code === EXIT_TOOL_ERROR, `exit ${code}: ${stderr}`);
    return JSON.parse(stdout).result;
  },
});

await check('inspector http: a call without a key is refused', async () => {
  const keyless = { options: ['--stored-auth-only'], target: [url] };
  const { code, stderr } = await inspect(keyless, 'modern', ['--method', 'tools/list']);
  expect(code !== 0 && stderr.includes('auth_required'), `exit ${code}: ${stderr}`);
});

for (const era of Object.keys(VERSIONS)) {
  for (const transport of Object.keys(TARGETS)) {
    await boardChecks(`inspector ${transport} ${era}`, asChecked(TARGETS[transport], era));
  }
}

// Drives the official TypeScript MCP client against a running wheelhouse; see README.md.

import { Client, ProtocolError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { boardChecks, check, expect, key, stdio, url, VERSIONS } from './checks.mjs';

// The client opens with the legacy handshake unless it is asked to negotiate.
const OPTIONS = { modern: { versionNegotiation: { mode: 'auto' } }, legacy: {} };
const TRANSPORTS = {
  http: () =>
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${key}` } } }),
  stdio: () => new StdioClientTransport({ command: stdio[0], args: stdio.slice(1), stderr: 'inherit' }),
};

const asChecked = (client) => ({
  listTools: async () => (await client.listTools()).tools,
  callTool: async (name, args) => {
    try {
      return await client.callTool({ name, arguments: args });
    } catch (error) {
      if (error instanceof ProtocolError) return { protocolError: error };
      throw error;
    }
  },
});

async function conversation(transport, era) {
  const prefix = `typescript ${transport} ${era}`;
  const client = new Client({ name: 'wheelhouse-clients', version: '1' }, OPTIONS[era]);
  let connected = false;
  await check(`${prefix}: negotiates ${VERSIONS[era]}`, async () => {
    await client.connect(TRANSPORTS[transport]());
    connected = true;
    const version = client.getNegotiatedProtocolVersion();
    expect(version === VERSIONS[era], `wanted ${VERSIONS[era]}, got ${version}`);
  });
  if (!connected) return;
  await boardChecks(prefix, asChecked(client));
  await check(`${prefix}: closes`, () => client.close());
}

for (const era of Object.keys(OPTIONS)) {
  for (const transport of Object.keys(TRANSPORTS)) await conversation(transport, era);
}

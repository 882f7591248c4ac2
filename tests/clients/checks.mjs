// What the Node scripts share: printing a line per check, and the checks every client makes; see README.md.

export const url = process.env.WH_MCP_URL;
export const key = process.env.WH_KEY;
export const stdio = JSON.parse(process.env.WH_STDIO);
export const VERSIONS = { modern: '2026-07-28', legacy: '2025-11-25' };

const TOOLS_EXPECTED = ['board_list', 'board_create', 'tool_search'];
const CALL_MS = 60_000;

export async function check(name, body) {
  let timer;
  try {
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${CALL_MS} ms`)), CALL_MS);
    });
    await Promise.race([body(), late]);
    console.log(`PASS ${name}`);
  } catch (error) {
    process.exitCode = 1;
    console.log(`FAIL ${name}: ${String(error?.message ?? error).replace(/\s+/g, ' ')}`);
  } finally {
    clearTimeout(timer);
  }
}

export function expect(condition, message) {
  if (!condition) throw new Error(message);
}

export function expectErrorCode(structured, code) {
  expect(structured?.error, `no structured error: ${JSON.stringify(structured)}`);
  expect(structured.error.code === code, `code is ${structured.error.code}, wanted ${code}`);
}

/**
 * The checks every client makes. `client` has `listTools()`, resolving to the tools, and `callTool(name, arguments)`,
 * resolving to the tool's result, or to `{ protocolError }` when the server refused the call itself.
 */
export async function boardChecks(prefix, client) {
  let board;

  await check(`${prefix}: tools/list has the expected tools`, async () => {
    const tools = await client.listTools();
    const names = tools.map((tool) => tool.name);
    const missing = TOOLS_EXPECTED.filter((name) => !names.includes(name));
    expect(missing.length === 0, `tools/list lacks ${missing}; it has ${names}`);
    expect(tools.find((tool) => tool.name === 'board_create').outputSchema, 'board_create has no output schema');
  });

  await check(`${prefix}: board_create answers with structured content`, async () => {
    const name = `${prefix} board`;
    const result = await client.callTool('board_create', { name, description: 'made by a test' });
    expect(result.structuredContent && !result.isError, `no structured content: ${JSON.stringify(result)}`);
    board = result.structuredContent;
    expect(board.name === name, `name is ${board.name}`);
    expect(board.id.replaceAll('-', '').endsWith(board.short_id), 'short_id is not the end of id');
    expect(result.content?.[0]?.type === 'text', 'no line of text beside the structured content');
  });

  await check(`${prefix}: board_get gives the same board`, async () => {
    const result = await client.callTool('board_get', { board: board.id });
    expect(result.structuredContent && !result.isError, `no structured content: ${JSON.stringify(result)}`);
    for (const field of ['id', 'short_id', 'name']) {
      expect(result.structuredContent[field] === board[field], `${field} differs from what board_create said`);
    }
  });

  await check(`${prefix}: board_list contains it`, async () => {
    for (let cursor; ; ) {
      const result = await client.callTool('board_list', cursor ? { cursor } : {});
      expect(result.structuredContent?.boards, `no boards: ${JSON.stringify(result)}`);
      if (result.structuredContent.boards.some((listed) => listed.id === board.id)) return;
      cursor = result.structuredContent.next_cursor;
      expect(cursor, 'the new board is not listed');
    }
  });

  await check(`${prefix}: bad arguments are isError INVALID_INPUT`, async () => {
    const result = await client.callTool('board_create', { name: 7 });
    expect(result.isError, `not isError: ${JSON.stringify(result)}`);
    expectErrorCode(result.structuredContent, 'INVALID_INPUT');
  });

  await check(`${prefix}: an unknown id is isError NOT_FOUND`, async () => {
    const result = await client.callTool('board_get', { board: '00000000-0000-7000-8000-000000000000' });
    expect(result.isError, `not isError: ${JSON.stringify(result)}`);
    expectErrorCode(result.structuredContent, 'NOT_FOUND');
  });

  await check(`${prefix}: an unknown tool is refused`, async () => {
    const result = await client.callTool('no_such_tool', {});
    expect(result.isError || result.protocolError, `it answered: ${JSON.stringify(result)}`);
  });
}

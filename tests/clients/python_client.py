"""Drives the official Python MCP client against a running wheelhouse; see README.md."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import traceback
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

URL = os.environ["WH_MCP_URL"]
KEY = os.environ["WH_KEY"]
STDIO = json.loads(os.environ["WH_STDIO"])
CALL_SECONDS = 30

ERAS = {"modern": ("auto", "2026-07-28"), "legacy": ("legacy", "2025-11-25")}
TOOLS_EXPECTED = {"board_list", "board_create", "tool_search"}

failed = 0


async def check(name: str, body: Callable[[], Awaitable[None]], seconds: float = CALL_SECONDS) -> None:
    """Runs one check and prints its line."""
    global failed
    try:
        await asyncio.wait_for(body(), seconds)
        print(f"PASS {name}", flush=True)
    except Exception as error:
        failed += 1
        print(f"FAIL {name}: {why(error)}", flush=True)


def why(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    where = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.name.startswith("expect")]
    line = f" (line {where[-1].lineno} of {os.path.basename(where[-1].filename)})" if where else ""
    return " ".join(f"{type(error).__name__}: {error}{line}".split())


def expect(condition: object, message: str) -> None:
    if not condition:
        raise AssertionError(message)


async def board_checks(prefix: str, client: Client, version: str) -> None:
    board: dict[str, Any] = {}

    async def negotiates() -> None:
        expect(client.protocol_version == version, f"wanted {version}, got {client.protocol_version}")

    async def lists_tools() -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        missing = TOOLS_EXPECTED - tools.keys()
        expect(not missing, f"tools/list lacks {sorted(missing)}; it has {sorted(tools)}")
        expect(tools["board_create"].output_schema, "board_create has no output schema")

    async def creates() -> None:
        name = f"{prefix} board"
        result = await client.call_tool("board_create", {"name": name, "description": "made by a test"})
        expect(not result.is_error, f"isError: {result.content}")
        expect(isinstance(result.structured_content, dict), "no structured content")
        board.update(result.structured_content)
        expect(board["name"] == name, f"name is {board['name']!r}")
        expect(board["id"].replace("-", "").endswith(board["short_id"]), "short_id is not the end of id")
        expect(result.content and result.content[0].type == "text", "no line of text beside the structured content")

    async def gets() -> None:
        result = await client.call_tool("board_get", {"board": board["id"]})
        expect(not result.is_error, f"isError: {result.content}")
        for field in ("id", "short_id", "name"):
            expect(result.structured_content[field] == board[field], f"{field} differs from what board_create said")

    async def lists() -> None:
        found, cursor = False, None
        while not found:
            result = await client.call_tool("board_list", {"cursor": cursor} if cursor else {})
            expect(not result.is_error, f"isError: {result.content}")
            found = any(b["id"] == board["id"] for b in result.structured_content["boards"])
            cursor = result.structured_content.get("next_cursor")
            expect(found or cursor, "the new board is not listed")

    async def refuses_bad_arguments() -> None:
        result = await client.call_tool("board_create", {"name": 7})
        expect(result.is_error, "a number was accepted as a name")
        expect_error_code(result.structured_content, "INVALID_INPUT")

    async def refuses_an_unknown_id() -> None:
        result = await client.call_tool("board_get", {"board": "00000000-0000-7000-8000-000000000000"})
        expect(result.is_error, "an id that does not exist was found")
        expect_error_code(result.structured_content, "NOT_FOUND")

    async def refuses_an_unknown_tool() -> None:
        try:
            result = await client.call_tool("no_such_tool", {})
        except MCPError as error:
            expect(error.error.code in (-32602, -32601), f"error code {error.error.code}")
            return
        expect(result.is_error, "a tool that does not exist answered")

    await check(f"{prefix}: negotiates {version}", negotiates)
    await check(f"{prefix}: tools/list has the expected tools", lists_tools)
    await check(f"{prefix}: board_create answers with structured content", creates)
    await check(f"{prefix}: board_get gives the same board", gets)
    await check(f"{prefix}: board_list contains it", lists)
    await check(f"{prefix}: bad arguments are isError INVALID_INPUT", refuses_bad_arguments)
    await check(f"{prefix}: an unknown id is isError NOT_FOUND", refuses_an_unknown_id)
    await check(f"{prefix}: an unknown tool is refused", refuses_an_unknown_tool)


def expect_error_code(structured: Any, code: str) -> None:
    expect(isinstance(structured, dict) and "error" in structured, f"no structured error: {structured!r}")
    expect(structured["error"].get("code") == code, f"code is {structured['error'].get('code')!r}, wanted {code}")


async def over_http(era: str) -> None:
    mode, version = ERAS[era]
    prefix = f"python http {era}"
    headers = {"Authorization": f"Bearer {KEY}"}
    async with httpx2.AsyncClient(headers=headers, timeout=CALL_SECONDS) as http:
        async with Client(streamable_http_client(URL, http_client=http), mode=mode) as client:
            await board_checks(prefix, client, version)


async def over_stdio(era: str) -> None:
    mode, version = ERAS[era]
    server = StdioServerParameters(command=STDIO[0], args=STDIO[1:])
    async with Client(server, mode=mode) as client:
        await board_checks(f"python stdio {era}", client, version)


async def refuses_without_key() -> None:
    async with httpx2.AsyncClient(timeout=CALL_SECONDS) as http:
        answer = await http.post(
            URL,
            json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
            headers={"Accept": "application/json, text/event-stream"},
        )
    expect(answer.status_code == 401, f"status {answer.status_code}, wanted 401")
    expect(answer.headers.get("www-authenticate", "").startswith("Bearer"), "no WWW-Authenticate: Bearer")


async def conversation(name: str, run: Callable[[str], Awaitable[None]], era: str) -> None:
    """Runs one conversation; failing to open or close it is a failed check of its own."""
    await check(f"{name} {era}: connects and closes", lambda: run(era), 8 * CALL_SECONDS)


async def main() -> None:
    await check("python http: a call without a key is 401 with WWW-Authenticate", refuses_without_key)
    for era in ERAS:
        await conversation("python http", over_http, era)
        await conversation("python stdio", over_stdio, era)


logging.basicConfig(level=logging.ERROR)
asyncio.run(main())
sys.exit(1 if failed else 0)

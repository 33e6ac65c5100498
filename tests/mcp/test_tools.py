"""Agents read crawls, and begin those that they may."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess

import anyio
import httpx2
import pytest
from conftest import DRAGLINE, FORGED, ORDER, PATIENCE_SECONDS, Site, dragline, over_http, over_stdio
from mcp.shared.exceptions import MCPError

pytestmark = pytest.mark.anyio

PING = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})
READING = {"list_crawls", "search", "get_page", "passages", "links", "items", "diff", "history", "explain", "crawl_status"}


async def call(client, tool, **arguments):
    """What a tool answers for programs; its text has to have the same marks."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result.structured_content


async def text_of(client, tool, **arguments):
    """What a tool answers for models."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result.content[0].text


async def error_of(client, tool, **arguments):
    """Why a tool refused."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result.content
    assert result.content[0].text.startswith("error: ")
    return result.structured_content


def rows(answer):
    return answer["untrusted"]["rows"]


def between_marks(text):
    """What stands between the marks, and what does not."""
    found = re.search(r"<<<untrusted ([0-9a-f]{32})>>>\n(.*)\n<<<end untrusted \1>>>", text, re.DOTALL)
    assert found, text
    return found[2], text[: found.start()] + text[found.end() :]


async def test_a_crawl_is_read(connect, site):
    async with connect() as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == READING, "without a host that is allowed, agents only read"
        for name, tool in tools.items():
            assert tool.annotations.read_only_hint and not tool.annotations.destructive_hint, name
            assert tool.annotations.open_world_hint == (name == "explain"), name
            assert tool.input_schema["additionalProperties"] is False, name

        crawls = (await call(client, "list_crawls"))["crawls"]
        assert [(crawl["name"], crawl["iteration"]["iteration"]) for crawl in crawls] == [("docs", 2)]
        status = await call(client, "crawl_status", crawl="docs", iteration=1)
        assert (status["progress"]["status"], status["progress"]["iteration"]) == ("closed", 1)

        found = await call(client, "search", crawl="docs", query="administrator")
        assert [hit["url"] for hit in rows(found)] == [f"{site}/install"]
        page = await call(client, "get_page", crawl="docs", url=f"{site}/install", iteration=1)
        assert page["iteration"] == 1 and re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", page["at"]), page
        assert "## On Windows" in page["untrusted"]["text"]
        assert page["digest"] == "sha256:" + hashlib.sha256(page["untrusted"]["text"].encode()).hexdigest()

        passages = rows(await call(client, "passages", crawl="docs", question="How do I install it on Windows?", limit=1))
        assert passages[0]["url"] == f"{site}/install" and "administrator" in passages[0]["text"], passages
        assert passages[0]["at"] and passages[0]["digest"] == "sha256:" + hashlib.sha256(passages[0]["text"].encode()).hexdigest()

        changed = rows(await call(client, "diff", crawl="docs", **{"from": 1, "to": 2}))
        assert [(row["url"], row["change"]) for row in changed] == [(f"{site}/news", "changed")], changed
        visits = rows(await call(client, "history", crawl="docs", url=f"{site}/news"))
        assert [visit["iteration"] for visit in visits] == [1, 2]
        first = await call(client, "history", crawl="docs", url=f"{site}/news", limit=1)
        assert (len(rows(first)), first["next"]) == (1, 1), "the list goes on"
        rest = await call(client, "history", crawl="docs", url=f"{site}/news", limit=1, offset=1)
        assert rows(rest) == visits[1:] and "next" not in rest

        explained = await call(client, "explain", crawl="docs", url=f"{site}/private/a")
        assert (explained["allowed"], explained["blocked_by"]) == (False, "robots_txt")
        of = rows(await call(client, "links", crawl="docs", url=f"{site}/", direction="of"))
        assert f"{site}/install" in {link["to_url"] for link in of}
        to = rows(await call(client, "links", crawl="docs", url=f"{site}/install", direction="to"))
        assert {link["from_url"] for link in to} == {f"{site}/"}, to
        items = rows(await call(client, "items", crawl="docs", type="Product"))
        assert [(item["url"], "A chair" in json.dumps(item)) for item in items] == [(f"{site}/chair", True)], items


async def test_agents_that_speak_the_protocol_of_2025_are_answered(crawled, shared_server, site):
    for connection in (over_stdio(crawled, mode="legacy"), over_http(shared_server, mode="legacy")):
        async with connection as client:
            assert {tool.name for tool in (await client.list_tools()).tools} == READING
            assert "administrator" in await text_of(client, "get_page", crawl="docs", url=f"{site}/install")


async def test_items_come_in_parts(connect, site):
    async with connect() as client:
        found, cursor = [], {}
        for _ in range(20):
            part = await call(client, "items", crawl="docs", limit=1, **cursor)
            found += rows(part)
            if "next" not in part:
                break
            cursor = {"cursor": part["next"]}
        assert [item["url"] for item in found] == [f"{site}/chair"] and "next" not in part
        assert "cursor is not valid" in (await error_of(client, "items", crawl="docs", cursor="?"))["error"]


async def test_a_page_stays_within_its_marks(connect, site):
    async with connect() as client:
        for tool, arguments in [
            ("get_page", {"url": f"{site}/hostile"}),
            ("search", {"query": "ignore previous instructions"}),
            ("passages", {"question": "previous instructions"}),
        ]:
            text = await text_of(client, tool, crawl="docs", **arguments)
            inside, outside = between_marks(text)
            assert ORDER in inside and ORDER not in outside, text
            assert "evil.example" not in outside and "untrusted" in outside, text
            assert FORGED.strip("<>") not in outside, text
        boundaries = {re.search(r"<<<untrusted (\w+)>>>", await text_of(client, "get_page", crawl="docs", url=f"{site}/hostile"))[1] for _ in range(2)}
        assert len(boundaries) == 2, "each answer has marks of its own"


async def test_a_long_page_comes_in_parts(connect, site):
    async with connect() as client:
        whole, offset = "", 0
        while offset is not None:
            part = await call(client, "get_page", crawl="docs", url=f"{site}/long", offset=offset)
            assert len(part["untrusted"]["text"]) <= 20_000
            whole += part["untrusted"]["text"]
            offset = part.get("next")
        assert "Paragraph 0 " in whole and "Paragraph 599 " in whole
        assert part["digest"] == "sha256:" + hashlib.sha256(whole.encode()).hexdigest(), "that of the whole text"


async def test_mistakes_are_told_to_the_agent(connect, site):
    async with connect() as client:
        for tool, arguments, said in [
            ("search", {"crawl": "docs"}, "missing field `query`"),
            ("search", {"crawl": "docs", "query": "x", "word": "y"}, "unknown field `word`"),
            ("search", {"crawl": "docs", "query": "x", "limit": 1_000}, "between 1 and 50"),
            ("search", {"crawl": "docs", "query": '"x'}, "not closed"),
            ("search", {"crawl": "../docs", "query": "x"}, "not a valid crawl name"),
            ("search", {"crawl": "none", "query": "x"}, "there is no crawl `none`"),
            ("get_page", {"crawl": "docs", "url": f"{site}/unknown"}, "unknown"),
            ("get_page", {"crawl": "docs", "url": f"{site}/install", "iteration": 9}, "9"),
            ("get_page", {"crawl": "docs", "url": "x" * 5_000}, "2048"),
            ("history", {"crawl": "docs", "url": "--data"}, "--data"),
            ("diff", {"crawl": "docs", "from": 7}, "7"),
        ]:
            error = await error_of(client, tool, **arguments)
            assert said in error["error"], (tool, arguments, error)
        assert "/unknown" not in Site.targets, "what is not stored is not asked for"
        assert any("list_crawls" in hint for hint in (await error_of(client, "search", crawl="none", query="x"))["hints"])
        for tool in ("delete", "crawl"):
            with pytest.raises(MCPError, match=f"there is no tool `{tool}`"):
                await client.call_tool(tool, {"url": site})


async def wait_until_over(client, crawl):
    with anyio.fail_after(PATIENCE_SECONDS):
        while (await call(client, "crawl_status", crawl=crawl))["progress"]["status"] != "closed":
            await anyio.sleep(0.1)


@pytest.mark.parametrize("transport", ["stdio", "stdio_beside_a_server", "http"])
async def test_only_allowed_hosts_are_crawled(transport, data, serve, site):
    allowed = ["--allow-host", "127.0.0.1", "--pages-max", "20"]
    if transport == "http":
        connection = over_http(serve(data, *allowed))
    else:
        if transport == "stdio_beside_a_server":
            serve(data)
        connection = over_stdio(data, *allowed, "--allow-private")
    async with connection as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == READING | {"crawl"}
        hints = tools["crawl"].annotations
        assert (hints.read_only_hint, hints.destructive_hint, hints.open_world_hint) == (False, False, True)
        assert "127.0.0.1" in tools["crawl"].description

        for arguments, said in [
            ({"url": "https://evil.example/"}, "the host `evil.example` is not allowed"),
            ({"url": "http://127.0.0.1.evil.example/"}, "is not allowed"),
            ({"url": "http://127.0.0.1@evil.example/"}, "user name"),
            ({"url": f"{site}/", "pages": 21}, "more than are allowed"),
            ({"url": f"{site}/", "crawl": "docs"}, "there is a crawl `docs` already"),
            ({"crawl": "none"}, "there is no crawl `none`"),
            ({}, "neither"),
        ]:
            error = await error_of(client, "crawl", **arguments)
            assert said in error["error"] and error["hints"], (arguments, error)
        assert len((await call(client, "list_crawls"))["crawls"]) == 1, "nothing was added"

        begun = await call(client, "crawl", url=f"{site}/install", crawl="one-page", pages=1)
        assert begun["iteration"]["iteration"] == 1
        await wait_until_over(client, "one-page")
        assert "administrator" in (await call(client, "get_page", crawl="one-page", url=f"{site}/install"))["untrusted"]["text"]
        assert (await call(client, "crawl", crawl="docs"))["iteration"]["iteration"] == 3
        await wait_until_over(client, "docs")


async def test_an_existing_crawl_of_other_hosts_is_not_begun(data, site, tmp_path):
    definition = {"name": "other", "seeds": ["https://example.org/"], "budget": {"pages": 5}}
    (tmp_path / "crawl.yaml").write_text(json.dumps(definition))
    dragline(tmp_path, "schedule", "add", "crawl.yaml", "--data", str(data))
    async with over_stdio(data, "--allow-host", "127.0.0.1") as client:
        assert "example.org" in (await error_of(client, "crawl", crawl="other"))["error"]
    async with over_stdio(data, "--allow-host", "example.org") as client:
        error = await error_of(client, "crawl", crawl="other")
        assert "other hosts" in error["error"], "a seed may redirect to another host of its domain"
        assert "do_not_crawl" in error["hints"][0]
    async with over_stdio(data, "--allow-host", "example.org", "--pages-max", "4") as client:
        assert "more than 4 pages" in (await error_of(client, "crawl", crawl="other"))["error"]


async def test_a_crawl_is_read_while_another_command_writes(data, site):
    crawling = subprocess.Popen([DRAGLINE, "crawl", f"{site}/slow", "--data", data, "--allow-private", "--delay", "0s", "--quiet"])
    try:
        with anyio.fail_after(PATIENCE_SECONDS):
            while "/slow" not in Site.targets:
                await anyio.sleep(0.02)
        async with over_stdio(data, "--allow-host", "127.0.0.1") as client:
            assert "administrator" in await text_of(client, "get_page", crawl="docs", url=f"{site}/install")
            assert rows(await call(client, "search", crawl="docs", query="administrator"))
            error = await error_of(client, "crawl", crawl="docs")
            assert "in use" in error["error"], error
    finally:
        Site.may_answer.set()
        crawling.kill()
        crawling.wait(PATIENCE_SECONDS)


async def test_a_directory_without_crawls_is_not_made_by_reading_it(tmp_path, site):
    async with over_stdio(tmp_path / "none") as client:
        error = await error_of(client, "list_crawls")
        assert "there is no crawl in" in error["error"] and "dragline crawl URL" in error["hints"][0]
    assert not (tmp_path / "none").exists()
    async with over_stdio(tmp_path / "new", "--allow-host", "127.0.0.1", "--allow-private") as client:
        assert (await call(client, "list_crawls"))["crawls"] == []
        begun = await call(client, "crawl", url=f"{site}/install", pages=1)
        name = begun["iteration"]["crawl"]
        await wait_until_over(client, name)
        assert "administrator" in await text_of(client, "get_page", crawl=name, url=f"{site}/install")


async def test_roles_hold_for_agents(data, serve, site, tmp_path):
    tokens = {role: dragline(tmp_path, "token", "add", role, "--role", role, "--data", str(data)).strip() for role in ("reader", "editor")}
    server = serve(data, "--allow-host", "127.0.0.1")
    async with over_http(server, tokens["reader"]) as client:
        assert len((await call(client, "list_crawls"))["crawls"]) == 1, "a reader reads"
        for arguments in ({"url": f"{site}/", "crawl": "new", "pages": 1}, {"crawl": "docs"}):
            error = await error_of(client, "crawl", **arguments)
            assert (error["status"], "of a reader" in error["error"]) == (403, True), error
        assert len((await call(client, "list_crawls"))["crawls"]) == 1
    async with over_http(server, tokens["editor"]) as client:
        await call(client, "crawl", url=f"{site}/install", crawl="new", pages=1)
        await wait_until_over(client, "new")
    assert post(server, PING) == post(server, PING, Authorization="Bearer wrong") == 401


def post(server, body, **fields):
    """Calls a server without the SDK, and returns the status."""
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **fields}
    return httpx2.post(f"http://{server.address}/mcp", content=body, headers=headers, timeout=PATIENCE_SECONDS).status_code


def test_the_checks_of_the_server_hold(shared_server):
    for body, fields, status, why in [
        (PING, {}, 200, "a program"),
        (PING, {"Host": "evil.example"}, 421, "a name that resolves to this machine"),
        (PING, {"Origin": "https://evil.example"}, 403, "a page of another site"),
        ("{", {}, 415, "not JSON"),
        (" " * (4 << 20) + PING, {}, 413, "too long"),
    ]:
        assert post(shared_server, body, **fields) == status, why


def test_nothing_but_the_protocol_is_printed(crawled):
    requests = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "search", "arguments": {"crawl": "docs", "query": "news"}}},
    ]
    process = subprocess.Popen([DRAGLINE, "mcp", "--data", crawled], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    answers = []
    for request in requests:
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        if "id" in request:
            answers.append(json.loads(process.stdout.readline()))
    rest, _ = process.communicate(timeout=PATIENCE_SECONDS)
    assert [answer["id"] for answer in answers] == [1, 2] and rest == ""
    assert "instructions" in answers[0]["result"]
    assert process.returncode == 0, "it ends with its input"
    silent = subprocess.run([DRAGLINE, "mcp", "--data", crawled], stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_SECONDS)
    assert (silent.returncode, silent.stdout) == (0, b""), silent.stderr

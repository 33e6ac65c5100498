#!/usr/bin/env python3
"""A site that links to many hosts, one link each. As a program it has `dragline` check them, and says how long that took:

    tests/links/many_hosts.py 5000
"""

import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DRAGLINE = Path(__file__).parents[2] / "target" / "debug" / "dragline"
OWN = "127.0.0.1"
LINKS_A_PAGE = 250


def addresses(number):
    """As many addresses of this machine; the link to each seventh is broken."""
    return [f"127.{10 + n // 62500}.{n // 250 % 250}.{1 + n % 250}" for n in range(number)]


def page(links):
    return ("<!doctype html><title>Links</title>" + "".join(f"<a href='{link}'>a link</a>" for link in links)).encode()


class Site:
    """What is served at all addresses and one port."""

    def __init__(self, hosts):
        self.hosts, self.port, self.requests, self.servers = hosts, 0, 0, []

    async def start(self):
        for host in [OWN, *self.hosts]:
            server = await asyncio.start_server(self._talk, host, self.port, backlog=8)
            self.port = server.sockets[0].getsockname()[1]
            self.servers.append(server)

    def _answer(self, host, path):
        pages = -(-len(self.hosts) // LINKS_A_PAGE)
        if path == "/robots.txt":
            return 404, b""
        if host != OWN:
            return (404, b"") if self.hosts.index(host) % 7 == 6 else (200, b"There.")
        if path == "/":
            return 200, page(f"/{n}" for n in range(pages))
        linked = self.hosts[int(path[1:]) * LINKS_A_PAGE :][:LINKS_A_PAGE]
        return 200, page(f"http://{host}:{self.port}/there" for host in linked)

    async def _talk(self, reader, writer):
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                self.requests += 1
                lines = head.decode().split("\r\n")
                method, path, _ = lines[0].split(" ")
                host = next(line for line in lines if line.lower().startswith("host: "))[6:].split(":")[0]
                status, body = self._answer(host, path)
                fields = f"HTTP/1.1 {status} Said\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
                writer.write(fields.encode() + (b"" if method == "HEAD" else body))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


async def check(number, directory, *options):
    """Has the links checked, and returns the seconds that took, the requests, and the broken links."""
    site = Site(addresses(number))
    await site.start()
    began = time.monotonic()
    url = f"http://{OWN}:{site.port}/"
    crawl = await asyncio.create_subprocess_exec(DRAGLINE, "crawl", url, "--check-external", "--allow-private", "--quiet", *options, cwd=directory)
    assert await crawl.wait() == 0
    seconds = time.monotonic() - began
    rows = subprocess.run([DRAGLINE, "broken", "--format", "jsonl"], cwd=directory, capture_output=True, check=True).stdout.splitlines()
    for server in site.servers:
        server.close()
    return seconds, site.requests, [json.loads(row)["url"] for row in rows]


if __name__ == "__main__":
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with tempfile.TemporaryDirectory() as folder:
        took, requests, broken = asyncio.run(check(int(sys.argv[1]), folder))
    print(f"{sys.argv[1]} hosts: {took:.1f} s, {requests} requests, {len(broken)} links are broken")

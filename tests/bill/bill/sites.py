"""The origins of a shape: one server on loopback, an address each."""

from __future__ import annotations

import asyncio
import math
import random
import threading
from collections import Counter
from typing import Iterator

from bill.shapes import Shape

PAGE_BYTES = 20_000
"""About the median of the web's HTML."""

PROSE = "the spider pays out a thread behind itself and returns along it when the wind moves between branches of an old tree "


class Sites:
    """Serves while the context is entered."""

    def __init__(self, shape: Shape) -> None:
        self.fetched: Counter[str] = Counter()
        """Requests for pages, by host and path."""
        self._shape = shape
        self._noise = random.Random(shape.name).randbytes(shape.blob_bytes)
        self._loop = asyncio.new_event_loop()
        self.port = 0
        """The port of all origins. One that is free on the first loopback address is free on the others."""

    @property
    def seeds(self) -> list[str]:
        """The first page of every origin."""
        return [f"http://{_address(nth)}:{self.port}/" for nth in range(self._shape.origins)]

    def __enter__(self) -> Sites:
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._hang_up(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)

    async def _listen(self) -> None:
        for nth in range(self._shape.origins):
            server = await asyncio.start_server(self._serve, _address(nth), self.port)
            self.port = server.sockets[0].getsockname()[1]

    async def _hang_up(self) -> None:
        """Closes the connections that clients keep open."""
        serving = asyncio.all_tasks() - {asyncio.current_task()}
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                writer.write(self._answer(head.decode("latin-1")))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def _answer(self, head: str) -> bytes:
        path = head.split(" ", 2)[1]
        host = next(line for line in head.splitlines() if line.lower().startswith("host:")).split(":", 1)[1].strip()
        page = self._page(path)
        if path != "/robots.txt":
            self.fetched[host + path] += 1
        if page is None:
            return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
        kind, body = ("application/octet-stream", self._noise) if page and self._noise else ("text/html; charset=utf-8", self._body(page).encode())
        return f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body

    def _page(self, path: str) -> int | None:
        if path == "/":
            return 0
        number = path.removeprefix("/page/").removesuffix(".html")
        return int(number) if number.isdigit() and 0 < int(number) < self._shape.pages else None

    def _body(self, page: int) -> str:
        links = "".join(f'<li><a href="{_path(target)}">Page {target}</a>\n' for target in self._shape.links_of(page))
        start = f"<!doctype html><html lang=en><title>Page {page}</title><h1>Page {page}</h1><ul>\n{links}</ul><p>{page} "
        wanted = max(0, PAGE_BYTES - len(start))
        prose = PROSE if self._shape.words == 0 else " ".join(words(random.Random(page), self._shape.words, wanted // 6))
        return start + (prose * (wanted // len(prose) + 1))[:wanted]


def words(draw: random.Random, different: int, count: int) -> Iterator[str]:
    """Words as they are in texts: the second is half as frequent as the first, and so on."""
    for _ in range(count):
        rank = int(math.exp(draw.random() * math.log(different)))
        yield "".join(SYLLABLES[rank // 60**place % 60] for place in range(3))


SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprst" for vowel in "aeiou"]


def _address(nth: int) -> str:
    return f"127.0.0.{nth + 1}"


def _path(page: int) -> str:
    return f"/page/{page}.html" if page else "/"

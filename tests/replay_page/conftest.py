"""A site that was crawled three times, its archive, and a browser that replays it."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import threading
import time
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote, urlencode

import chromium
import player
import pytest
from daily_site import CHART, Site

DRAGLINE = Path(__file__).parents[2] / "target" / "debug" / "dragline"
DAYS = (1, 2, 3)


@dataclass(frozen=True)
class Archive:
    """What was archived of the site, and served together with the player."""

    origin: str
    """That of the site, which is no longer there."""
    times: dict[tuple[str, int], str]
    """When each URL was visited each day, in 14 digits."""
    answers: list[tuple[int, str, int]]
    player: str
    """The URL of the player."""

    def address(self, path: str, day: int | None, reader: int) -> str:
        """The address in the player of a page as it was on a day, or of the newest one. What the player keeps, it keeps for each reader."""
        at = {} if day is None else {"ts": self.times[path, day]}
        page = urlencode({"view": "replay", "url": self.origin + path, **at}, quote_via=quote)
        return f"{self.player}?source=/{reader}/site.wacz#{page}"


    def chart(self, path: str, day: int | None) -> int:
        """The day of which the player shows the picture that changes: of its visits the first that began in the second of the page's visit or later, or the
        newest one."""
        return next((each for each in DAYS if day and self.times[CHART, each] >= self.times[path, day]), DAYS[-1])


class Files(SimpleHTTPRequestHandler):
    """The player and the archive, of which a player may ask for a range."""

    def __init__(self, *arguments, archive: Path, **options) -> None:
        self.archive = archive
        super().__init__(*arguments, **options)

    def do_GET(self) -> None:
        if not self.path.split("?")[0].endswith("/site.wacz"):
            return super().do_GET()
        whole = self.archive.read_bytes()
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        first, last = (int(asked[1]), int(asked[2] or len(whole) - 1)) if asked else (0, len(whole) - 1)
        part = whole[first : last + 1]
        self.send_response(206 if asked else 200)
        if asked:
            self.send_header("Content-Range", f"bytes {first}-{first + len(part) - 1}/{len(whole)}")
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        self.wfile.write(part)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="session")
def archive(tmp_path_factory):
    """The archive of a site of which all is gone but this."""
    folder = tmp_path_factory.mktemp("crawl")
    with Site() as site:
        for day in DAYS:
            site.day = day
            dragline(folder, "crawl", f"{site.origin}/", "--allow-private", "--delay", "0s", "--requisites", "fetch", "--quiet")
            # Players know visits by the second.
            time.sleep(2 if day < DAYS[-1] else 0)
        dragline(folder, "archive", "-o", "site.wacz")
        times = {}
        for day in DAYS:
            for line in dragline(folder, "export", "--what", "log", "--format", "jsonl", "--iteration", str(day)).splitlines():
                visit = json.loads(line)
                times[visit["url"].removeprefix(site.origin), day] = re.sub(r"\D", "", visit["at"][:19])
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Files, archive=folder / "site.wacz", directory=player.directory()))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Archive(site.origin, times, site.answers, f"http://127.0.0.1:{server.server_port}/")
    server.shutdown()


def dragline(folder: Path, *arguments: str) -> str:
    done = subprocess.run([DRAGLINE, *arguments], cwd=folder, timeout=chromium.PATIENCE_SECONDS, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def browser():
    driver = chromium.start()
    yield driver
    driver.quit()


@pytest.fixture
def reader(numbers=itertools.count()):
    """Somebody who has not seen anything yet."""
    return next(numbers)

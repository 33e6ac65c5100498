"""Pages that misbehave, through the whole command: nothing leaves their browser, nothing of the crawl is lost, and nothing of them is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hostile_site import HTML, JSON, SCRIPT, SILENCE, Arrival, Counter, Pages, Sent, page, redirect
from test_crawl import DRAGLINE, PATIENCE_SECONDS, documents, rows
from truth import CHROMIUM

ESCAPE = Path(__file__).parents[1] / "browser_engine" / "engine" / "escape.html"

LATE_SECONDS = 0.7
"""What the browser does by itself may come after the end of its page."""

WAYS_OUT_MIN = 30
"""How many requests the escape page makes at least, of which pictures, pings and the like are never asked."""

AGENT = "Escapee/1.0 (+https://example.org/bot)"

ROBOTS = "User-agent: *\nDisallow: /css-\nDisallow: /worker-\nDisallow: /frame\n"
FORBIDDEN = ("/css-", "/worker-", "/frame")


@pytest.fixture
def serve() -> Iterator[Callable[[str], Pages]]:
    """Serves pages at an address of this machine."""
    with ExitStack() as sites:
        yield lambda address: sites.enter_context(closing(Pages(address)))


@pytest.fixture
def counter() -> Iterator[Counter]:
    with closing(Counter(ROBOTS)) as counter:
        yield counter


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    """Where the command and its browsers keep what is temporary, which no other crawl of this machine uses."""
    directory = tmp_path / "temporary"
    directory.mkdir()
    return directory


def begin(directory: Path, temporary: Path, definition: dict[str, Any] | None = None) -> subprocess.Popen[str]:
    """Begins a crawl of a definition, or goes on with the one that is there."""
    crawl: list[str | Path] = [DRAGLINE, "crawl"]
    if definition is not None:
        (directory / "crawl.yaml").write_text(json.dumps(definition))
        crawl += ["crawl.yaml"]
    crawl += ["--allow-private", "--progress", "json"]
    environment = {**os.environ, "TMPDIR": str(temporary)}
    environment.pop("XDG_RUNTIME_DIR", None)  # the slots of hosts are in the directory, too
    return subprocess.Popen(crawl, cwd=directory, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def end(crawl: subprocess.Popen[str]) -> str:
    """Waits for the end of a crawl, and returns what it said."""
    try:
        return crawl.communicate(timeout=PATIENCE_SECONDS)[1]
    finally:
        crawl.kill()


def read(directory: Path, site: Pages) -> tuple[dict[str, Any], dict[str, Any]]:
    """The rows of a crawl's log and its documents, by path."""
    log, made = rows(directory, "1"), documents(directory)
    assert all(row["url"].startswith(f"{site.url}/") for row in log), "nothing else is visited"
    return {row["url"].removeprefix(site.url): row for row in log}, {document["url"].removeprefix(site.url): document for document in made}


def escape_site(site: Pages, counter: Counter) -> None:
    """The page that tries every way out, once for each address of the counter, with the header fields, redirects and workers that try more."""
    port = counter.port
    # The page has one way to an address that many clouds have something at. Nobody is there at this
    # one.
    text = ESCAPE.read_text().replace("169.254.169.254", "127.0.0.3").replace("PORT", str(port))
    for path, host in (("/four", "127.0.0.1"), ("/six", "[::1]")):
        away = f"http://{host}:{port}"
        fields = (
            ("Link", f"<{away}/field-preload>; rel=preload; as=script, <{away}>; rel=preconnect"),
            ("Report-To", f'{{"group":"a","max_age":99,"endpoints":[{{"url":"{away}/field-report"}}]}}'),
            ("NEL", '{"report_to":"a","max_age":99,"success_fraction":1}'),
            ("Content-Security-Policy-Report-Only", f"img-src 'none'; report-uri {away}/field-policy"),
            ("Speculation-Rules", f'"{away}/field-rules"'),
            ("Alt-Svc", f'h3="{host}:{port}"'),
            ("Refresh", f"3; url={away}/field-refresh"),
        )
        site.answers[path] = Sent(text.replace("AWAY", away).encode(), HTML, fields=fields)
    away = f"http://127.0.0.1:{port}"
    worker = f"""
        const away = '{away}';
        fetch(away + '/worker-file-fetch').catch(() => {{}});
        try {{ importScripts(away + '/worker-file-import') }} catch {{}}
        try {{ new WebSocket('ws://127.0.0.1:{port}/worker-file-socket') }} catch {{}}
        try {{ new Worker('/nested.js') }} catch {{}}""".encode()
    site.answers |= {
        "/": page("<title>Start</title><a href=/four>Four</a><a href=/six>Six</a>"),
        "/worker.js": Sent(worker, SCRIPT),
        "/worker.mjs": Sent(worker, SCRIPT),
        "/nested.js": Sent(f"importScripts('{away}/nested-import')".encode(), SCRIPT),
    }
    site.answers |= {path: redirect(away + path) for path in ("/redirected", "/redirected-frame", "/redirected-script", "/redirected-data")}


def crawl_escape(site: Pages, counter: Counter, other_hosts: str, directory: Path, temporary: Path) -> list[Arrival]:
    """Crawls the escape page, checks what is stored of it, and returns what arrived at the counter."""
    escape_site(site, counter)
    definition = {
        "seeds": [site.url + "/"],
        "render": {"when": "always", "other_hosts": other_hosts, "requests_max": 500},
        "politeness": {"delay": "0s"},
        "user_agent": AGENT,
    }
    crawl = begin(directory, temporary, definition)
    said = end(crawl)
    assert crawl.returncode in (0, 1), said
    log, made = read(directory, site)
    time.sleep(LATE_SECONDS)
    for path in ("/four", "/six"):
        assert log[path]["outcome_name"] == "file_ingested"
        assert "The way out" in made[path]["page"]["text"]
        rendering = made[path]["content"]["rendering"]
        tried = sum(rendering["requests"].values())
        assert tried > WAYS_OUT_MIN, f"it tried: {rendering}"
    return list(counter.arrivals)


def test_nothing_leaves_a_page_that_may_ask_no_other_host(serve: Callable[[str], Pages], counter: Counter, tmp_path: Path, temporary: Path) -> None:
    # Another port of the same host would be its own host.
    arrivals = crawl_escape(serve("127.0.0.2"), counter, "none", tmp_path, temporary)
    assert arrivals == []


def test_what_a_page_may_ask_of_other_hosts_is_asked_by_the_crawl_alone(
    serve: Callable[[str], Pages], counter: Counter, tmp_path: Path, temporary: Path
) -> None:
    arrivals = crawl_escape(serve("127.0.0.2"), counter, "all", tmp_path, temporary)
    assert {arrival.protocol for arrival in arrivals} == {"TCP"}
    # Where the page names https, the crawl asks for its robots.txt, and nobody there speaks TLS.
    assert [arrival for arrival in arrivals if arrival.is_of_browser] == []
    requests = [arrival for arrival in arrivals if not arrival.is_tls]
    assert {arrival.headers.get("user-agent") for arrival in requests} == {AGENT}, "nobody else opens a connection"
    assert {arrival.line.split(" ")[0] for arrival in requests} == {"GET"}
    assert len({arrival.path for arrival in requests}) > WAYS_OUT_MIN / 2
    assert [arrival.path for arrival in requests if arrival.path.startswith(FORBIDDEN)] == [], "robots.txt is obeyed"
    for host in {arrival.headers["host"] for arrival in requests}:
        own = sorted((arrival for arrival in requests if arrival.headers["host"] == host), key=lambda arrival: arrival.began)
        assert all(before.ended <= after.began for before, after in pairwise(own)), f"one at a time at {host}"
        assert own[0].path == "/robots.txt"


def test_the_greeting_of_a_browser_is_known(counter: Counter, tmp_path: Path) -> None:
    # The control: if this fails, no browser that opens a connection would be noticed above.
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}", "--dump-dom"]
    subprocess.run([CHROMIUM, *options, f"https://127.0.0.1:{counter.port}/"], check=False, capture_output=True, timeout=PATIENCE_SECONDS)
    greetings = [arrival for arrival in counter.arrivals if arrival.is_tls]
    assert greetings
    assert all(arrival.is_of_browser for arrival in greetings)


HOSTILE: dict[str, tuple[str, set[str | None]]] = {
    # The script of each page, and how its rendering may end; `None`: it may also fail.
    "loop": ("for (;;);", {"stopped"}),
    "loop-in-a-timer": ("setTimeout(() => { for (;;); }, 100)", {"stopped"}),
    "microtasks": ("const again = () => Promise.resolve().then(again); again()", {"stopped", None}),
    "heap": ("const all = []; for (;;) all.push(new Array(1000000).fill(1.5))", {"stopped", None}),
    "buffers": ("const all = []; for (;;) all.push(new Uint8Array(64 << 20).fill(1))", {"quiet", "wall_time", "stopped", None}),
    "growth": (
        "setInterval(() => document.body.append(...Array.from({length: 500}, () => document.createElement('i'))), 1)",
        {"quiet", "page_time", "wall_time", "stopped"},
    ),
    "silence": ("fetch('/silent')", {"wall_time"}),
    "prototypes": (
        """for (const name of ['outerHTML', 'innerHTML', 'shadowRoot', 'tagName', 'attributes'])
          Object.defineProperty(Element.prototype, name, {get: () => 'False'});
        Element.prototype.getHTML = Document.prototype.querySelectorAll = Node.prototype.cloneNode = () => 'False';
        String.prototype.slice = String.prototype.toWellFormed = Array.prototype.push = () => 'False';
        Object.defineProperty(Document.prototype, 'documentElement', {get: () => null});
        globalThis.Promise = globalThis.requestAnimationFrame = globalThis.JSON = null;""",
        {"quiet"},
    ),
    "dialogs": ("alert('x'); confirm('x'); prompt('x'); print(); onbeforeunload = () => 'x'", {"quiet"}),
    "popups": ("for (let i = 0; i < 5; i++) { open('/popup'); open('about:blank') }", {"quiet"}),
    "download": ("location = '/file.bin'; Object.assign(document.createElement('a'), {href: '/file.bin', download: 'x'}).click()", {"quiet"}),
    "blank": ("location = 'about:blank'", {"quiet"}),
    "reload": ("setInterval(() => location.reload(), 10)", {"quiet", "wall_time"}),
    "requests": ("let n = 0; const again = () => fetch('/' + n++).catch(() => {}).finally(again); again()", {"quiet", "page_time", "wall_time", "stopped"}),
}

RENDER_SECONDS = 4

MEMORY_BYTES_MAX = 300 << 20
"""Of the command itself, which is not optimised, and holds some pages at a time."""

GOOD = page("<title>Good</title><p id=there></p><script>fetch('/data.json').then(sent => sent.json()).then(data => there.append(data.text))</script>")
MADE = "Scripts brought this sentence, and nothing that others did took it away."


def hostile_site(site: Pages) -> None:
    """Hostile pages, with a good page beside each, and another behind it, to which only its markup leads."""
    links = "".join(f"<p><a href=/hostile/{name}>Hostile</a> <a href=/good/{name}>Good</a>" for name in HOSTILE)
    site.answers |= {
        "/": page(f"<title>Start</title>{links}"),
        "/data.json": Sent(json.dumps({"text": MADE}).encode(), JSON),
        "/file.bin": Sent(b"\0" * 100, "application/octet-stream"),
        "/silent": SILENCE,
    }
    for name, (script, _) in HOSTILE.items():
        site.answers[f"/hostile/{name}"] = page(f"<title>{name}</title><body><p>Before {name}.</p><a href=/after/{name}>After</a><script>{script}</script>")
        site.answers[f"/good/{name}"] = site.answers[f"/after/{name}"] = GOOD


def peak_bytes(process: int) -> int:
    """The most memory that a process had so far, which lives."""
    status = Path(f"/proc/{process}/status").read_text()
    return next((int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM:")), 0)


def test_hostile_pages_cost_no_page_but_themselves(serve: Callable[[str], Pages], tmp_path: Path, temporary: Path) -> None:
    site = serve("127.0.0.1")
    hostile_site(site)
    definition = {
        "seeds": [site.url + "/"],
        "render": {"when": "always", "timeout": f"{RENDER_SECONDS}s"},
        "politeness": {"delay": "0s", "concurrency": 4},
        "fetch": {"first_byte_timeout": f"{RENDER_SECONDS}s"},
    }
    crawl = begin(tmp_path, temporary, definition)
    peaks = [0]
    assert crawl.stderr is not None
    said = ""
    for line in crawl.stderr:  # one comes every second
        said += line
        peaks.append(peak_bytes(crawl.pid))
    end(crawl)
    assert crawl.returncode in (0, 1), said
    assert max(peaks) < MEMORY_BYTES_MAX
    log, made = read(tmp_path, site)
    for name, (_, ends) in HOSTILE.items():
        for path in (f"/good/{name}", f"/after/{name}"):
            assert log[path]["outcome_name"] == "file_ingested" and not log[path]["detail"], (path, log[path])
            assert MADE in made[path]["page"]["text"] and made[path]["content"]["rendering"]["ended"] == "quiet", made[path]
        row, document = log[f"/hostile/{name}"], made[f"/hostile/{name}"]
        rendering, gaps = document["content"]["rendering"], document["content"].get("gaps", [])
        assert rendering.get("ended") in ends, (name, rendering)
        assert f"Before {name}." in document["page"]["text"], (name, document)
        is_whole = rendering.get("ended") == "quiet" and not rendering["requests"]["over_limit"]
        assert is_whole == ("rendering" not in gaps) == (not row["detail"]), (name, row, document)
        assert is_whole or "rendered" in row["detail"], row
        assert ("failed" in rendering) == ("ended" not in rendering)
    # Where a script sends the browser is a link: nothing is downloaded, but the crawl asks for it.
    assert made.keys() == {"/", "/file.bin", *(f"/{kind}/{name}" for kind in ("hostile", "good", "after") for name in HOSTILE)}


def processes_of(directory: Path) -> set[int]:
    """The processes that live and have their files in a directory, and all others of their groups."""
    groups, found = {}, set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            # After the name in brackets come state, parent and group.
            state, _, group = (process / "stat").read_text().rpartition(")")[2].split()[:3]
            told = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
        except OSError:
            continue
        if state != "Z":
            groups[int(process.name)] = group
            if f"{directory}/dragline-browser-".encode() in told:
                found.add(group)
    return {process for process, group in groups.items() if group in found}


def browser_directories(temporary: Path) -> set[Path]:
    return set(temporary.glob("dragline-browser-*"))


def awaited(what: Callable[[], bool], seconds: float) -> bool:
    """Whether something comes true in time."""
    limit = time.monotonic() + seconds
    while not (is_true := what()) and time.monotonic() < limit:
        time.sleep(0.02)
    return is_true


GONE_SECONDS = 2

ENDLESS = "const asked = new XMLHttpRequest(); asked.open('GET', '/began', false); asked.send(); for (;;);"


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM], ids=lambda how: how.name)
def test_nothing_is_left_of_a_crawl_that_is_ended(how: signal.Signals, serve: Callable[[str], Pages], tmp_path: Path, temporary: Path) -> None:
    site = serve("127.0.0.1")
    site.answers |= {
        "/": page("<title>Start</title><p>Start</p><a href=/loop>Loop</a><a href=/good>Good</a>"),
        "/loop": page(f"<title>Loop</title><body><p>Before</p><script>{ENDLESS}</script>"),
        "/began": Sent(b"yes", "text/plain"),
        "/data.json": Sent(json.dumps({"text": MADE}).encode(), JSON),
        "/good": GOOD,
    }
    render = {"when": "always", "timeout": "2s"}
    crawl = begin(tmp_path, temporary, {"seeds": [site.url + "/"], "render": render, "politeness": {"delay": "0s"}})
    assert awaited(lambda: "/began" in site.paths, PATIENCE_SECONDS)
    time.sleep(0.3)  # until it computes
    assert len(processes_of(temporary)) > 2
    crawl.send_signal(how)
    said = end(crawl)
    assert crawl.returncode == (-how if how == signal.SIGKILL else 130), said
    assert awaited(lambda: not processes_of(temporary), GONE_SECONDS), processes_of(temporary)
    left = browser_directories(temporary)
    crawl = begin(tmp_path, temporary)
    said = end(crawl)
    assert crawl.returncode in (0, 1), said
    assert awaited(lambda: not processes_of(temporary), GONE_SECONDS), processes_of(temporary)
    assert not left & browser_directories(temporary), "what could not be removed is removed by the next crawl"
    log, made = read(tmp_path, site)
    assert {path for path, row in log.items() if row["outcome_name"] == "file_ingested"} >= {"/", "/loop", "/good"}, log
    assert MADE in made["/good"]["page"]["text"]
    assert made["/loop"]["content"]["rendering"]["ended"] == "stopped" and "Before" in made["/loop"]["page"]["text"]


def test_a_crawl_that_ends_leaves_no_files_of_its_browsers(serve: Callable[[str], Pages], tmp_path: Path, temporary: Path) -> None:
    site = serve("127.0.0.1")
    site.answers |= {"/": GOOD, "/data.json": Sent(json.dumps({"text": MADE}).encode(), JSON)}
    crawl = begin(tmp_path, temporary, {"seeds": [site.url + "/"], "render": {"when": "always"}, "politeness": {"delay": "0s"}})
    said = end(crawl)
    assert crawl.returncode == 0, said
    # Its processes may write for a moment after the command's end.
    assert awaited(lambda: not browser_directories(temporary), GONE_SECONDS), browser_directories(temporary)

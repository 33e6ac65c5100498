"""A site that says hostile things, a report on it, and a browser that opens it."""

import subprocess
import threading
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import chromium
import pytest

DRAGLINE = Path(__file__).parents[2] / "target" / "debug" / "dragline"
PAGES = 240

# What each would do, if it were more than text: run, load something, end the data, or hide what
# follows.
HOSTILE = [
    "</script><script>window.pwned=1</script>",
    "<img src=x onerror=window.pwned=1>",
    "<!--<script>",
    "\"><svg onload=window.pwned=1>",
    "{{constructor.constructor('window.pwned=1')()}}",
    "javascript:window.pwned=1",
    "turned \u202egpj.exe",
    "long " + "x" * 5000,
    "=HYPERLINK(1)",
]


class Site(BaseHTTPRequestHandler):
    """Pages with hostile titles, links to what is missing, and redirects in a row."""

    def do_GET(self):
        path = self.path.split("?")[0]
        if path == "/":
            links = "".join(f"<a href='/p/{n}'>{n}</a> <a href='/gone/{n}?q=<img src=x onerror=pwned=1>'>gone</a>" for n in range(PAGES))
            return self.page(f"<title>Start</title>{links}<a href=/one>on</a>")
        if path.startswith("/p/"):
            number = int(path[3:])
            title = HOSTILE[number % len(HOSTILE)]
            head = f"<title>{escape(title)}</title><meta name=description content=\"{escape(title)}\">"
            return self.page(f"{head}<p>{escape(title)} {number}</p><a href=/>start</a>")
        if path in ("/one", "/two"):
            self.send_response(301)
            self.send_header("Location", "/two" if path == "/one" else "/p/1")
            self.end_headers()
            return None
        return self.send_error(404)

    def page(self, body):
        data = f"<!doctype html><html>{body}".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="session")
def report(tmp_path_factory):
    """The path of the page of a report."""
    folder = tmp_path_factory.mktemp("crawl")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    seed = f"http://127.0.0.1:{server.server_port}/"
    crawl = ["crawl", seed, "--allow-private", "--delay", "0s", "--concurrency", "8", "--quiet"]
    for arguments in (crawl, ["report", "-o", "report.html"]):
        subprocess.run([DRAGLINE, *arguments], cwd=folder, check=arguments is not crawl, timeout=chromium.PATIENCE_SECONDS, capture_output=True)
    server.shutdown()
    return folder / "report.html"


@pytest.fixture
def browse(report):
    """Opens the report in a window of a size, in light or dark colours."""
    drivers = []

    def open_page(width=1280, height=900, colours="light"):
        driver = chromium.start()
        drivers.append(driver)
        screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        # Scrolling by itself, the page would move away under a click.
        features = [
            {"name": "prefers-color-scheme", "value": colours},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        driver.get(report.as_uri())
        return driver

    yield open_page
    for driver in drivers:
        driver.quit()

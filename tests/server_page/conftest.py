"""A site that says hostile things and changes, `dragline serve`, and a browser that opens its page."""

import base64
import re
import subprocess
import threading
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import chromium
import pytest

DRAGLINE = Path(__file__).parents[2] / "target" / "debug" / "dragline"

# What each would do, if it were more than text: run, load something, end an attribute, or turn
# what follows.
HOSTILE = [
    "</script><script>window.pwned=1</script>",
    "\"><img src=x onerror=window.pwned=1>",
    "'><svg onload=window.pwned=1>",
    "javascript:window.pwned=1",
    "turned \u202egpj.exe",
    "long " + "x" * 2000,
]

MANUAL = [
    "Dragline is a machine that digs. This manual says how to use it, and what to do when it stands still.",
    "Before you begin, look at the ropes. A rope with a broken strand is replaced at once.",
    "The bucket holds {amount} tons. Do not load more, as the boom bends.",
    "Start the engine and wait until it is warm. Then lower the bucket slowly.",
    "In winter, oil the winch every day.",
    "When the work is done, put the bucket on the ground and switch the engine off.",
]


class Site(BaseHTTPRequestHandler):
    """Pages with hostile titles, one that changes, and one that tries to run and to load things."""

    edition = 1
    asked = []  # noqa: RUF012
    gate = threading.Event()
    gate.set()

    def do_GET(self):
        Site.asked.append(self.path)
        Site.gate.wait(chromium.PATIENCE_SECONDS)
        path = self.path.split("?")[0]
        if path == "/":
            links = "".join(f"<li><a href='/p/{n}?q={escape(text[:60], quote=True)}'>{escape(text[:60])}</a>" for n, text in enumerate(HOSTILE))
            return self.page("Start", f"<ul>{links}</ul><a href=/manual>The manual</a> <a href=/trap>A trap</a> <a href=/gone>gone</a>"
                             "<a href='javascript:window.pwned=1'>run</a>")  # fmt: skip
        if path.startswith("/p/"):
            text = HOSTILE[int(path[3:])]
            return self.page(text, f"<p>{escape(text)}: a page about winches and ropes.</p><a href=/>start</a>")
        if path == "/manual":
            amount = 40 if Site.edition == 1 else 55
            lines = [line.format(amount=amount) for line in MANUAL]
            if Site.edition > 1:
                lines[4:5] = ["In winter, oil the winch twice a day <script>window.pwned=1</script>.", "Keep the cabin heated."]
            return self.page("Manual of the dragline", "".join(f"<p>{escape(line)}</p>" for line in lines))
        if path == "/trap":
            return self.page("Trap", "<p>A trap for browsers.</p><script>parent.pwned=1;fetch('/beacon?fetch')</script><img src='/beacon?img'>"
                             "<link rel=stylesheet href='/beacon?css'><iframe src='/beacon?frame'></iframe><form action='/beacon?form'></form>"
                             "<meta http-equiv=refresh content='0;url=/beacon?refresh'><style>body{background:url('/beacon?style')}</style>")  # fmt: skip
        return self.send_error(404)

    def page(self, title, body):
        data = f"<!doctype html><html lang=en><title>{escape(title)}</title><main><h1>{escape(title)}</h1>{body}</main>".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="session")
def site():
    """The address of the site."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture(scope="session")
def edition():
    """Changes the site to another edition."""

    def change(number):
        Site.edition = number

    return change


@pytest.fixture
def gate():
    """What answers pass through: closed, they wait until it is opened."""
    yield Site.gate
    Site.gate.set()


@pytest.fixture(scope="session")
def asked():
    """The paths that were requested from the site."""
    return Site.asked


def serve(folder, *arguments):
    """Starts a server, and returns it with its address."""
    command = [DRAGLINE, "serve", "--listen", "127.0.0.1:0", "--allow-private", *arguments]
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
    line = process.stderr.readline()
    threading.Thread(target=process.stderr.read, daemon=True).start()
    found = re.search(r"http://[^/]+", line)
    assert found, line
    return process, found.group()


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """The address of a server without crawls."""
    process, address = serve(tmp_path_factory.mktemp("server"))
    yield address
    process.kill()
    process.wait()


@pytest.fixture(scope="session")
def guarded(tmp_path_factory):
    """The address of a server with tokens, and how a reader and an editor say who they are."""
    folder = tmp_path_factory.mktemp("guarded")

    def basic(user, *options):
        token = subprocess.run([DRAGLINE, "token", "add", user, *options], cwd=folder, check=True, capture_output=True, text=True)
        return "Basic " + base64.b64encode(f"{user}:{token.stdout.strip()}".encode()).decode()

    reader, editor = basic("ada"), basic("ben", "--role", "editor")
    subprocess.run([DRAGLINE, "schedule", "add", "https://a.example/", "--name", "docs"], cwd=folder, check=True, capture_output=True)
    process, address = serve(folder)
    yield address, reader, editor
    process.kill()
    process.wait()


@pytest.fixture(scope="session")
def driver():
    """A browser for all tests: starting one takes seconds."""
    driver = chromium.start()
    yield driver
    driver.quit()


@pytest.fixture
def look(driver):
    """Sets the size of the window, and light or dark colours."""

    def set_look(width=1280, height=900, colours="light"):
        screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        features = [{"name": "prefers-color-scheme", "value": colours}, {"name": "prefers-reduced-motion", "value": "reduce"}]
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        return driver

    set_look()
    yield set_look
    set_look()

"""The applications that are rendered: those of the tests, and a synthetic one of any number of pages."""

import json
import pathlib
import subprocess
import sys
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from .places import ROOT

LINKS = 10

BUNDLE_BYTES = 100_000

SHELL = b"<!doctype html><html lang=en><meta charset=utf-8><title>Application</title><div id=app></div><script src=/bundle.js></script>"

START = """
const number = location.pathname.split('/')[2] ?? '0';
fetch('/api/pages/' + number).then(sent => sent.json()).then(({ title, paragraphs, links }) => {
  document.title = title;
  const make = (name, values) => app.appendChild(Object.assign(document.createElement(name), values));
  make('h1', { textContent: title });
  for (const text of paragraphs) make('p', { textContent: text });
  for (const link of links) make('a', { href: '/pages/' + link, textContent: 'Page ' + link });
  make('p', { textContent: 'Parts: ' + parts.reduce((sum, part) => sum + part(sum), 0) % 1000 });
});
"""


def bundle():
    """A script of about 100 KB, all of whose parts are compiled and run."""
    lines, size = ["const parts = [];"], 0
    while size < BUNDLE_BYTES:
        place = len(lines)
        lines.append(
            f"parts.push(function part{place}(sum) {{ const weights = [{place}, {place * 7 % 11}, 3]; return weights.map(w => w * (sum % 5 + 1)).reduce((a, b) => a + b, {place % 13}); }});"
        )
        size += len(lines[-1]) + 1
    return "\n".join([*lines, START]).encode()


def page(number, pages):
    """The data of a page: its links span a shallow tree over all pages."""
    children = range(number * LINKS + 1, min((number + 1) * LINKS + 1, pages))
    others = ((number * 31 + place * 17) % pages for place in range(LINKS - len(children)))
    sentence = f"Page {number} of this site has a sentence of its own, and says it again so that there is something to read."
    return {"title": f"Page {number}", "paragraphs": [f"{place}: {sentence}" for place in range(20)], "links": [*children, *others]}


class Synthetic(ThreadingHTTPServer):
    """The same shell for each page, one script for all, and one JSON document for each."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, pages):
        super().__init__(("127.0.0.1", 0), SyntheticHandler)
        self.url = f"http://127.0.0.1:{self.server_port}/"
        self.bundle, self.pages, self.asked = bundle(), pages, []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self):
        self.shutdown()
        self.server_close()

    def handle_error(self, *_):
        """Browsers that end while they are answered are no error here."""

    def shown(self):
        """How many pages were shown since the last time: those whose data was asked for."""
        shown = {path for path in self.asked if path.startswith("/api/pages/")}
        self.asked = []
        return len(shown)


class SyntheticHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def do_GET(self):
        path, pages = self.path, self.server.pages
        self.server.asked.append(path)
        parts = path.split("/")
        if path == "/bundle.js":
            self.send(200, "text/javascript", self.server.bundle, "max-age=86400")
        elif path == "/robots.txt":
            self.send(200, "text/plain", b"User-agent: *\nDisallow:\n")
        elif path == "/" or parts[1] == "pages":
            self.send(200, "text/html; charset=utf-8", SHELL)
        elif parts[1] == "api" and int(parts[3]) < pages:
            self.send(200, "application/json", json.dumps(page(int(parts[3]), pages)).encode())
        else:
            self.send(404, "text/plain", b"Nothing is here.")

    def send(self, status, kind, body, lasts="no-cache"):
        self.send_response(status)
        for name, value in (("Content-Type", kind), ("Content-Length", str(len(body))), ("Cache-Control", lasts)):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


APPS = {"react": 32, "svelte": 17, "vue": 105}
"""The applications of the tests, and how many pages each has."""


def application(name):
    """Serves an application of the tests."""
    sys.path.insert(0, str(ROOT / "tests/rendered"))
    import site_of_apps

    # Its heads and bodies are sent apart, which costs a delay each otherwise.
    site_of_apps.Handler.disable_nagle_algorithm = True
    fetched = subprocess.run([ROOT / "scripts/fetch-apps"], stdout=subprocess.PIPE, text=True, check=True).stdout

    class App(site_of_apps.Site):
        pages = APPS[name]

        def shown(self):
            """How many pages were shown since the last time, by their addresses."""
            paths = {urllib.parse.urlsplit(request.path) for request in self.requests}
            self.requests.clear()
            shown = [path for path in paths if "." not in path.path and not path.path.startswith(("/api/", "/private/", "/pictures/", "/assets/"))]
            return len(shown)

    return App(pathlib.Path(fetched.strip()), name)

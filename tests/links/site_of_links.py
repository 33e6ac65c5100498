"""A site, and others that it links to: each kind of link that works, fails, or cannot be told."""

import html
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

OWN, OTHER, CLOSED, STRICT = "127.0.0.1", "127.0.1.1", "127.0.1.2", "127.0.1.3"
"""The site's address, one of others, one that refuses connections, and one whose robots.txt forbids something."""

PIXEL = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"


class Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer("GET")

    def do_HEAD(self):
        self.answer("HEAD")

    def answer(self, method):
        host, port = self.headers["Host"].split(":")
        self.server.asked.append((method, host, self.path))
        status, fields, body = answer(method, host, port, self.path)
        self.send_response(status)
        for name, value in {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(body)), **fields}.items():
            self.send_header(name, value)
        self.end_headers()
        if method != "HEAD":
            self.wfile.write(body)


def page(*links):
    shown = "".join(f"<p><a href='{html.escape(link)}'>to {html.escape(link)}</a></p>" for link in links)
    return 200, {}, f"<!doctype html><html lang=en><title>Links</title><h1 id=there>Links</h1>{shown}".encode()


def moved(status, target):
    return status, {"Location": target}, b""


MISSING = (404, {}, b"<title>Missing</title>Nothing is here.")

LINKS = {
    # What a link leads to: the link, and whether whoever follows it gets nothing.
    "/page": False,
    "/missing": True,
    "/gone": True,
    "/error": True,
    "/moved": False,
    "/moved-to-missing": True,
    "/around": True,
    "/paper.pdf": False,
    "/missing.pdf": True,
    "OTHER/page": False,
    "OTHER/missing": True,
    "OTHER/no-head": False,
    "OTHER/head-missing": False,
    "OTHER/no-head-missing": True,
    "OTHER/moved": False,
    "OTHER/moved-for-now": False,
    "OTHER/moved-to-missing": True,
    "OTHER/around": True,
    "OTHER/error": True,
    "CLOSED/page": True,
    "http://nobody.invalid/page": True,
}

FLAWS = {
    # Links that are wrong, or not, whatever is at their end: the finding, if there is one.
    "http://h:bad/": "links_malformed",
    "htp://h.example/": "links_malformed",
    "mailto:": "links_malformed",
    "": None,
    "mailto:ada@example.org": None,
    "tel:+491234": None,
    "/page#there": None,
    "/page#nowhere": "fragments_missing",
    "/page#top": None,
    "/page#/a/route": None,
    "/page#:~:text=Links": None,
    "/paper.pdf#page=2": None,
}

UNKNOWN = ["OTHER/forbidden", "OTHER/too-many", "OTHER/999", "STRICT/private"]
"""What nobody but a person with a browser can tell."""

PARTS = {"/there.gif": False, "/missing.gif": True, "/missing.css": True, "OTHER/missing.gif": True, "OTHER/there.gif": False}
"""What the page loads, with the same meaning."""


def absolute(link, port):
    names = {"OTHER": OTHER, "CLOSED": CLOSED, "STRICT": STRICT}
    name, _, path = link.partition("/")
    return f"http://{names[name]}:{port}/{path}" if name in names else link


def answer(method, host, port, path):
    if path == "/robots.txt":
        return (200, {"Content-Type": "text/plain"}, b"User-agent: *\nDisallow: /private\n") if host == STRICT else MISSING
    if host == OWN and path == "/":
        status, fields, body = page(*(absolute(link, port) for link in [*LINKS, *UNKNOWN, *FLAWS]), "/more")
        parts = "".join(f"<link rel=stylesheet href='{part}'>" if part.endswith("css") else f"<img alt='' src='{absolute(part, port)}'>" for part in PARTS)
        return status, fields, body + parts.encode()
    if host == OWN and path == "/more":
        # The same links from a second page: each target is asked for once.
        return page(*(absolute(link, port) for link in LINKS))
    if path == "/head-missing" and method == "HEAD" or path in ("/missing", "/missing.pdf", "/missing.gif", "/missing.css"):
        return MISSING
    if path in ("/no-head", "/no-head-missing") and method == "HEAD":
        return 405, {"Allow": "GET"}, b""
    simple = {
        "/page": page(),
        "/head-missing": page(),
        "/no-head": page(),
        "/no-head-missing": MISSING,
        "/private": page(),
        "/paper.pdf": (200, {"Content-Type": "application/pdf"}, b"%PDF-1.4\n%%EOF\n"),
        "/there.gif": (200, {"Content-Type": "image/gif"}, PIXEL),
        "/gone": (410, {}, b"Gone."),
        "/error": (500, {}, b"Broken."),
        "/forbidden": (403, {}, b"Not for you."),
        "/too-many": (429, {}, b"Slow down."),
        "/999": (999, {}, b""),
        "/moved": moved(301, "/page"),
        "/moved-for-now": moved(302, "/page"),
        "/moved-to-missing": moved(301, "/missing"),
        "/around": moved(302, "/around-again"),
        "/around-again": moved(302, "/around"),
    }
    return simple.get(path, MISSING)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def start():
    """Starts all of them at one port, and returns it with what is asked of them: method, host, path."""
    asked, servers, port = [], [], 0
    for host in (OWN, OTHER, STRICT):
        server = Server((host, port), Answers)
        server.asked, port = asked, server.server_port
        servers.append(server)
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    with socket.socket() as nobody:
        assert nobody.connect_ex((CLOSED, port)) != 0, "somebody listens there"
    return port, asked

"""The site of the archives in this folder, on a port: `site.py 18923 [EDITION]`.

wget made its two of the first and the second edition (`wget --warc-file=wget -r -l 2 -e robots=off`);
curl asked warcprox for the third (whose `allow_localhost` was set): each page once, a POST, and then
/plain again and /twin, which are revisits. The dates of the records were set back afterwards, so that
no clock is behind them, and each record compressed again.
"""

import gzip
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import brotli

EDITION = sys.argv[2] if len(sys.argv) > 2 else "first"
LINKS = ["/plain", "/gzip", "/brotli", "/chunked", "/twin", "/moved", "/none"]


def page(title, words, links=()):
    links = "".join(f"<a href={link}>{link}</a> " for link in links)
    return f"<!doctype html><html lang=en><title>{title}</title><p>{words}</p>{links}".encode()


def chunks(body):
    parts = (body[:20], body[20:], b"")
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body, name="Content-Type", value="text/html; charset=utf-8"):
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        if name != "Content-Type":
            self.send_header(name, value)
        if name != "Transfer-Encoding":
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.answer(200, b"posted")

    def do_GET(self):
        match self.path:
            case "/":
                self.answer(200, page("Home", "the wombat lives here", LINKS))
            case "/plain" | "/twin":
                self.answer(200, page("Twins", "the same quokka in both"))
            case "/gzip":
                body = page("Gzip", f"a numbat in gzip, {EDITION} edition", ["/plain"])
                self.answer(200, gzip.compress(body, mtime=0), "Content-Encoding", "gzip")
            case "/brotli":
                body = brotli.compress(page("Brotli", "a bilby in brotli"))
                self.answer(200, body, "Content-Encoding", "br")
            case "/chunked":
                body = chunks(page("Chunked", "a dunnart in pieces"))
                self.answer(200, body, "Transfer-Encoding", "chunked")
            case "/moved":
                self.answer(301, b"", "Location", "/plain")
            case _:
                self.answer(404, page("None", "nothing"))


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()

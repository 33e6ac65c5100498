"""Sites that ask who calls, crawled with secrets of AWS, which are sent to the site and are nowhere else; and proxies."""

from __future__ import annotations

import gzip
import json
import threading
import zlib
from base64 import b64encode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Iterator

import pytest

from opening_proxy import OpeningProxy
from sites import Page, Site, of_pages
from stack.deployed import SWEEP_SECONDS, eventually

NAME = "members/login-of-the-tests"

LOGIN = "ada:correct-horse-battery"

PASSWORD = "staple-of-the-members"

TRACES = [text.encode() for text in (LOGIN, LOGIN.split(":")[1], b64encode(LOGIN.encode()).decode())]
"""What would tell the value: itself, its password, and how it is sent."""

PAGES = {
    "/": Page(b'<title>In</title><a href="/news">News</a>'),
    "/news": Page(b"<title>News</title>For members."),
}

TABLES = ["crawls", "frontier", "candidates", "log"]

QUEUES = ["Commands", "Turns", "Segments", "Publications"]


class Form(BaseHTTPRequestHandler):
    """A members' area with a form, whose sessions show three pages."""

    asked: list[str] = []
    sessions: list[int] = []
    """How many pages each session has left."""

    def do_GET(self) -> None:
        Form.asked.append(self.path)
        if self.path == "/robots.txt":
            return self.answer(404, "")
        if self.path.startswith("/login"):
            return self.answer(200, "<form method=post action=/session><input type=hidden name=t value=1><input name=user><input name=pass></form>")
        _, _, session = (self.headers["Cookie"] or "").partition("session-of-")
        if not session or not Form.sessions[int(session)]:
            return self.answer(302, "", ("Location", f"/login?next={self.path}"))
        Form.sessions[int(session)] -= 1
        links = "".join(f"<a href=/p/{n}>page</a>" for n in range(6))
        return self.answer(200, f"<title>{self.path}</title><a href=/logout>Log out</a>{links}<p>Words of {self.path}")

    def do_POST(self) -> None:
        Form.asked.append(f"POST {self.path}")
        sent = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if self.path != "/session" or sent != f"t=1&pass={PASSWORD}&user=ada":
            return self.answer(403, "")
        Form.sessions.append(4)
        return self.answer(303, "", ("Location", "/"), ("Set-Cookie", f"sid=session-of-{len(Form.sessions) - 1}; Path=/"))

    def answer(self, status: int, body: str, *fields: tuple[str, str]) -> None:
        self.send_response(status)
        for name, value in [*fields, ("Content-Type", "text/html"), ("Content-Length", str(len(body)))]:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        pass


def definition(name: str, url: str, *access: dict, **politeness: str) -> dict:
    return {"name": name, "seeds": [f"{url}/"], "politeness": {"delay": "0s", **politeness}, "recrawl": {"policy": "always"}, "access": access}


def basic(site: Site, value: str) -> dict:
    return {"hosts": [site.url.removeprefix("http://")], "basic": value, "allow_plain": True}


def crawl_twice(stack, asked: dict) -> None:
    """Stores a definition, and waits for the end of two iterations."""
    stack.command({"definition": asked})
    wait_for_the_end(stack, asked["name"])
    stack.command({"start": {"crawl": asked["name"]}})
    wait_for_the_end(stack, asked["name"], 2)


def keep_secrets(stack, **values: str) -> None:
    for name, value in values.items():
        stack.client("secretsmanager").create_secret(Name=f"members/{name}", SecretString=value)


def told(stack, crawl: str) -> bytes:
    """The log of a crawl, by which each URL ended."""
    return b"".join(content for row in stack.rows("log", crawl) for content in plainly(bytes(row["entries"])))


def wait_for_the_end(stack, crawl: str, number: int = 1) -> None:
    eventually(f"the end of iteration {number}", lambda: stack.is_over_after_a_sweep(crawl, number), SWEEP_SECONDS)


def peek(stack, queue: str) -> Iterator[bytes]:
    """The messages of a queue, which stay there."""
    received = stack.sqs.receive_message(QueueUrl=stack.queue(queue), MaxNumberOfMessages=10, VisibilityTimeout=0)
    return (message["Body"].encode() for message in received.get("Messages", []))


def plainly(content: bytes) -> Iterator[bytes]:
    """Bytes as they are, and what they are compressed of."""
    yield content
    for unpack in (gzip.decompress, lambda packed: zlib.decompress(packed, -15)):
        try:
            yield unpack(content)
        except (OSError, EOFError, zlib.error):
            pass


def everything(stack) -> Iterator[tuple[str, bytes]]:
    """All that the stack keeps, by where it is."""
    for table in TABLES:
        pages = stack.client("dynamodb").get_paginator("scan").paginate(TableName=f"{stack.outputs['Tables']}-{table}")
        for item in (item for page in pages for item in page["Items"]):
            yield f"{table} {item['pk']}", json.dumps(item, default=lambda value: value.decode("latin-1")).encode()
            for attribute in item.values():
                if "B" in attribute:
                    yield from ((f"{table} {item['pk']}", content) for content in plainly(attribute["B"]))
    for key, stored in stack.objects(""):
        yield from ((key, content) for content in plainly(stored))
    for queue in [*QUEUES, *(f"{queue}Dead" for queue in QUEUES)]:
        yield from ((queue, message) for message in peek(stack, queue))
    for function in ["Scheduler", "Crawler", "Parser", "Publisher", "Searcher", "Sweeper"]:
        yield f"the log of the {function}", stack.log(function).encode()


@pytest.fixture(scope="module")
def secret(stack):
    stack.client("secretsmanager").create_secret(Name=NAME, SecretString=f"{LOGIN}\n")
    return f"secret:{NAME}"


def test_a_members_area_is_crawled_and_nothing_tells_how(stack, secret):
    with Site(of_pages(PAGES), LOGIN) as site:
        with stack.held_back("Parser"):
            stack.command({"definition": definition("members", site.url, basic(site, secret))})
            eventually("a segment", lambda: stack.waiting("Segments"))
            messages = list(peek(stack, "Segments"))
        wait_for_the_end(stack, "members")
        assert messages and not any(trace in message for message in messages for trace in TRACES)
        stack.command({"start": {"crawl": "members"}})
        wait_for_the_end(stack, "members", 2)
        assert site.paths().count("/news") == 2, "the second iteration gets in, too"
    kept = list(everything(stack))
    leaks = [place for place, content in kept if any(trace in content for trace in TRACES)]
    assert leaks == []
    assert any(b"authorization: [redacted]" in content for _, content in kept), "the archive says that something was sent"
    assert any(secret.encode() in content for _, content in kept), "and the definition where it is"


def test_a_form_logs_in_and_again_when_the_session_ends(stack):
    keep_secrets(stack, name="ada", password=PASSWORD)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Form)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    host = f"127.0.0.1:{server.server_port}"
    fields = {"user": "secret:members/name", "pass": "secret:members/password"}
    log_in = {"url": f"http://{host}/session", "page": f"http://{host}/login", "fields": fields, "logged_in": "Log out"}
    rule = {"hosts": [host], "allow_plain": True, "login": log_in}
    crawl_twice(stack, definition("form", f"http://{host}", rule))
    server.shutdown()
    for number in range(6):
        assert Form.asked.count(f"/p/{number}") >= 2, "in each iteration"
    posts = [path for path in Form.asked if path.startswith("POST")]
    assert len(posts) >= 4 and set(posts) == {"POST /session"}, posts
    assert "/logout" not in Form.asked
    shown = [b"Words of " + path.encode() for path in ["/", *(f"/p/{number}" for number in range(6))]]
    kept = list(everything(stack))
    assert all(any(text in content for _, content in kept) for text in shown), "each page was read"
    leaks = [place for place, content in kept if PASSWORD.encode() in content or b"session-of-" in content]
    assert leaks == []


@pytest.mark.parametrize(
    ("crawl", "value", "said", "why"),
    [
        ("missing", "secret:members/nothing", b"is not in AWS Secrets Manager", "there is no such secret"),
        ("elsewhere", "secret:payroll/database", b"does not begin with `members/`", "the parameter does not name it"),
        ("binary", "secret:members/binary", b"is binary, and no text", "a key, perhaps"),
        ("formless", "secret:members/formless", b"has not the form `name:password`", "a value that Basic has no use for"),
    ],
)
def test_without_its_value_nothing_is_requested_of_the_site(stack, crawl, value, said, why):
    secrets = {"binary": {"SecretBinary": b"\x00\x01"}, "formless": {"SecretString": "correct-horse-battery"}}
    if crawl in secrets:
        stack.client("secretsmanager").create_secret(Name=value.removeprefix("secret:"), **secrets[crawl])
    with Site(of_pages(PAGES)) as site:
        stack.command({"definition": definition(crawl, site.url, basic(site, value))})
        wait_for_the_end(stack, crawl)
        assert site.paths() == [], why
    log = told(stack, crawl)
    assert said in log and value.encode() in log, (why, log)


def test_values_of_a_machine_are_refused(stack):
    with Site(of_pages(PAGES)) as site:
        stack.command({"definition": definition("of-a-machine", site.url, basic(site, "env:LOGIN"))})
        said = "a stack cannot read `env:LOGIN`"
        eventually("the refusal", lambda: said in stack.log("Scheduler"))
        assert site.paths() == []


def test_a_staging_site_that_keeps_everybody_out_is_crawled_by_its_owner(stack, secret):
    pages = {**PAGES, "/robots.txt": Page(b"User-agent: *\nDisallow: /\n", "text/plain")}
    with Site(of_pages(pages), LOGIN) as site:
        stack.command({"definition": definition("kept-out", site.url, basic(site, secret))})
        wait_for_the_end(stack, "kept-out")
        assert set(site.paths()) == {"/robots.txt"}, "not without the parameter"
        with stack.with_variables("Scheduler", DRAGLINE_IGNORE_ROBOTS_HOSTS=site.url.removeprefix("http://")):
            crawl_twice(stack, definition("staging", site.url, basic(site, secret)))
        assert site.paths().count("/news") == 2


def test_bodies_come_no_faster_than_the_definition_says(stack):
    bytes_per_second, body_bytes = 20_000, 20_000
    links = b"".join(b"<a href=/%d>page</a>" % number for number in range(4))
    pages = {"/": Page(links), **{f"/{number}": Page(b"<p>" + b"word " * (body_bytes // 5)) for number in range(4)}}
    with Site(of_pages(pages)) as site:
        stack.command({"definition": definition("slowly", site.url, bytes_per_second=f"{bytes_per_second}B")})
        wait_for_the_end(stack, "slowly")
        asked = [request for request in site.asked if request.path not in ("/robots.txt", "/")]
    assert len(asked) == 4
    took_seconds = asked[-1].at_seconds - asked[0].at_seconds
    assert took_seconds >= 3 * body_bytes / bytes_per_second, "the bodies before the last one, by the server's clock"


def test_an_intranet_is_reached_through_a_proxy_that_opens_tls(stack):
    login, host = "proxy-user:proxy-pass-of-the-tests", "intranet.example"
    with OpeningProxy(host, of_pages(PAGES), login) as proxy:
        keep_secrets(stack, proxy=proxy.url, authority=proxy.authority)
        through = {"DRAGLINE_ALLOW_PRIVATE": "no", "DRAGLINE_PROXY": "secret:members/proxy"}
        with stack.with_variables("Crawler", **through):
            stack.command({"definition": definition("untrusted", f"https://{host}")})
            wait_for_the_end(stack, "untrusted")
        assert proxy.targets and proxy.paths == [], "nothing is asked of whoever cannot be trusted"
        assert b"certificate not trusted" in told(stack, "untrusted")
        with stack.with_variables("Crawler", **through, DRAGLINE_CA_CERTIFICATES="secret:members/authority"):
            crawl_twice(stack, definition("intranet", f"https://{host}"))
        assert proxy.paths.count("/news") == 2
        assert set(proxy.targets) == {f"{host}:443"}, "AWS is reached without it"
    leaks = [place for place, content in everything(stack) if b"proxy-pass-of-the-tests" in content]
    assert leaks == []


def test_a_definition_names_no_proxy_with_a_private_address(stack):
    with Site(of_pages(PAGES)) as inside, stack.with_variables("Crawler", DRAGLINE_ALLOW_PRIVATE="no"):
        rule = {"hosts": ["site.example"], "proxy": inside.url}
        stack.command({"definition": definition("from-inside", "http://site.example", rule)})
        wait_for_the_end(stack, "from-inside")
        assert inside.paths() == []
    assert b"private" in told(stack, "from-inside")

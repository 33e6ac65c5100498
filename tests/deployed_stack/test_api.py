"""The same script of calls, to `dragline serve` over a data directory and to a stack, and the same answers.

What may differ between two crawls of the same site (times, places in WARC objects, cursors, the order of rows) is left out before they are compared.
"""

from __future__ import annotations

import base64
import gzip
import io
import json
import random
import re
import subprocess
import threading
import urllib.error
import urllib.request
import zipfile
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Optional
from urllib.parse import urlencode

import pytest

from sites import Page, Site
from stack.deployed import SWEEP_SECONDS, Stack, eventually

CRAWL = "api"

FORMS = ["serve", "stack"]

PRODUCT = '<script type="application/ld+json">{{"@context": "https://schema.org", "@type": "Product", "name": "A winch", "sku": "w{edition}"}}</script>'

TEXT = "The dragline digs with a bucket on long ropes, and a winch pulls the bucket through the sand towards the machine. "

TIMES = {"at", "first_seen", "last_checked", "last_changed", "last_seen", "next", "day", "score", "seconds", "elapsed", "slowest"}
"""Fields that say when or how long, and those that follow from it; also those whose names end so."""

TIME_ENDINGS = ("_at", "_ms", "_since")

PLACES = {"object", "offset", "length", "turn", "segment", "headers", "via", "n"}
"""Fields that say where something is stored, or by which of several pages it was found."""

ROWS = ["pages", "links", "items", "log", "candidates"]


@dataclass(frozen=True)
class Answer:
    """An answer of the API."""

    status: int
    media_type: str
    body: bytes

    def json(self) -> Any:
        """Its body."""
        return json.loads(self.body)

    def compared(self) -> Any:
        """What must be the same everywhere."""
        if not self.body:
            return self.status  # Lambda gives every answer a media type
        if self.media_type == "application/x-ndjson":
            return self.status, self.media_type, plain([json.loads(line) for line in self.body.splitlines()])
        if self.media_type.endswith("json") and self.body:
            return self.status, self.media_type, plain(self.json())
        if self.media_type == "text/html":
            return self.status, self.media_type, re.findall(rb"<title>(.*?)</title>", self.body)[:1]
        if self.media_type == "text/event-stream":
            (event,) = re.findall(rb"^data: ?(.*)$", self.body, re.MULTILINE)
            return self.status, self.media_type, plain(json.loads(event))
        if self.media_type == "text/plain":
            # The stack may have other crawls as well, and has no disk.
            names = set(re.findall(rb"^\w+", self.body, re.MULTILINE)) - {b"dragline_disk_free_bytes"}
            return self.status, self.media_type, sorted(names)
        if self.media_type == "application/wacz+zip":
            with zipfile.ZipFile(io.BytesIO(self.body)) as package:
                # The name of a WARC file has the second in which the package was made.
                names = sorted(re.sub(r"\d{14}", "TIME", name) for name in package.namelist())
                return self.status, self.media_type, names, captures(package)
        if self.media_type == "text/markdown":
            return self.status, self.media_type, re.findall(rb"^#+ .*$", self.body, re.MULTILINE)
        return self.status, self.media_type, self.body


def captures(package: zipfile.ZipFile) -> list[tuple[str, str]]:
    """The URLs in an archive, each with its status."""
    lines = gzip.decompress(package.read("indexes/index.cdx.gz")).decode().splitlines()
    entries = [json.loads(line.split(" ", 2)[2]) for line in lines if line and not line.startswith("!")]
    return sorted((entry["url"], entry["status"]) for entry in entries)


def in_words_of_its_own(what: str, answer: Answer) -> bool:
    """Whether a server says in its own words that something is not there: `serve` has it from the command."""
    return answer.status == 404 and any(printed in what for printed in ["/report", "/diff", "/history", "/body", "/backlinks", "/explain", "/archive"])


def both_compared(what: str, both: Mapping[str, Answer]) -> list[Any]:
    """What must be the same of the answers to a call."""
    if all(in_words_of_its_own(what, answer) for answer in both.values()):
        return [answer.status for answer in both.values()]
    compared = [answer.compared() for answer in both.values()]
    if what.startswith("begin"):
        # Whether what has begun is over by now is a matter of time.
        for _, _, said in (one for one in compared if isinstance(one, tuple)):
            said.pop("status", None)
    return compared


def plain(value: Any) -> Any:
    """A value of JSON without what may differ; lists are sorted."""
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items() if name not in TIMES | PLACES and not name.endswith(TIME_ENDINGS)}
    if isinstance(value, list):
        return sorted(map(plain, value), key=lambda inner: json.dumps(inner, sort_keys=True))
    return value


class Api:
    """One of the two servers."""

    def __init__(self, send: Callable[..., tuple[int, Mapping[str, str], bytes]], hurry: Callable[[], None]) -> None:
        self._send, self._hurry = send, hurry

    def call(self, method: str, target: str, body: Any = None, **headers: str) -> Answer:
        """Calls it. A body that is not bytes is sent as JSON."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None and not isinstance(body, bytes):
            body, named = json.dumps(body).encode(), {"Content-Type": "application/json", **named}
        status, answered, content = self._send(method, target, body, named)
        return Answer(status, (answered.get("Content-Type") or "").split(";")[0], content)

    def wait_for_the_end(self, number: int, crawl: str = CRAWL) -> None:
        """Of an iteration."""

        def is_over() -> bool:
            self._hurry()
            answer = self.call("GET", f"/crawls/{crawl}/progress?iteration={number}")
            return answer.status == 200 and answer.json().get("closed_at") is not None

        eventually(f"the end of iteration {number}", is_over, SWEEP_SECONDS)

    def wait_until_published(self, number: int, words: str) -> None:
        """The report on an iteration, and a word index with words that only its pages have."""
        eventually("the report", lambda: self.call("GET", f"/crawls/{CRAWL}/report?iteration={number}").status == 200, 1)

        def is_indexed() -> bool:
            answer = self.call("GET", f"/crawls/{CRAWL}/search?{urlencode({'q': words, 'exact': 'true'})}")
            return answer.status == 200 and answer.json()["total"] > 0

        eventually("the word index", is_indexed, 1)


def of_stack(stack: Stack) -> Api:
    return Api(stack.call, stack.sweep)


def serve(dragline, data, *arguments: str) -> tuple[subprocess.Popen, Api]:
    """Starts a server, and returns it with its API."""
    command = [dragline, "serve", "--data", data, "--listen", "127.0.0.1:0", "--allow-private", *arguments]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    line = process.stderr.readline()
    threading.Thread(target=process.stderr.read, daemon=True).start()
    found = re.search(r"http://[^/]+", line)
    assert found, line

    def send(method: str, target: str, body: Optional[bytes], headers: Mapping[str, str]) -> tuple[int, Mapping[str, str], bytes]:
        request = urllib.request.Request(found[0] + target, body, dict(headers), method=method)
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read()

    return process, Api(send, lambda: None)


class Edition:
    """A site of which an edition can be chosen."""

    def __init__(self) -> None:
        self.number = 1

    def __call__(self, path: str) -> Optional[Page]:
        anchors = "".join(f'<a href="{to}">{to}</a> ' for to in ["/", "/winch", "/ropes", "/missing", "/moved", "/private/a"])
        pages = {
            "/": f"<title>Start</title><h1>Draglines</h1><p>{TEXT}</p>{anchors}",
            "/winch": f"<title>Winch {self.number}</title>{PRODUCT.format(edition=self.number)}<p>{TEXT * 3} edition{self.number}</p><a href='/ropes'>Ropes</a>",
            "/ropes": f"<title>Ropes</title><p>{TEXT * 2} Ropes are made of steel wire.</p>" + ("<a href='/new'>New</a>" if self.number > 1 else ""),
            "/new": f"<title>New</title><p>{TEXT * 2} It is new.</p>" if self.number > 1 else None,
        }
        if path == "/robots.txt":
            return Page(b"User-agent: *\nDisallow: /private/\n", "text/plain")
        if path == "/moved":
            return Page(b"", location="/ropes")
        page = pages.get(path)
        return page and Page(f"<!doctype html><html lang=en>{page}".encode())


@pytest.fixture(scope="module")
def edition():
    return Edition()


@pytest.fixture(scope="module")
def site(edition):
    with Site(edition) as site:
        yield site


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return tmp_path_factory.mktemp("served") / "data"


@pytest.fixture(scope="module")
def apis(stack, dragline, data):
    """Both servers, by name."""
    process, served = serve(dragline, data)
    yield {"serve": served, "stack": of_stack(stack)}
    process.kill()
    process.wait()


class Script:
    """Calls both servers, and keeps their answers by what was asked."""

    def __init__(self, apis: Mapping[str, Api]) -> None:
        self._apis = apis
        self.answers: dict[str, dict[str, Answer]] = {}

    def call(self, what: str, method: str, target: str, body: Any = None, **headers: str) -> None:
        """Asks both."""
        assert what not in self.answers, f"another call is named `{what}`"
        self.answers[what] = {name: api.call(method, target, body, **headers) for name, api in self._apis.items()}

    def get(self, target: str, **headers: str) -> None:
        """The same for a read."""
        self.call(" ".join([f"GET {target}", *headers.values()]), "GET", target, **headers)


@pytest.fixture(scope="module")
def answers(apis, site, edition):
    """The answers to the whole script."""
    script = Script(apis)
    crawl = f"/crawls/{CRAWL}"
    add = {
        "name": CRAWL,
        "domain_names": [site.url],
        "user": "ada",
        "definition": {"politeness": {"delay": "0s"}, "user_agent": "Tests/1 (+https://contact.example)"},
    }
    begin = {"type": "on_demand", "iteration": 1}
    script.call("add a crawl", "POST", "/crawls", add, Idempotency_Key="once")
    script.call("add it again with its key", "POST", "/crawls", add, Idempotency_Key="once")
    script.call("add it again without a key", "POST", "/crawls", add)
    for what in ["", "/iterations", "/progress", "/search?q=winch", "/report", "/diff", "/pages", f"/history?url={site.url}/"]:
        script.call(f"before it begins: {what}", "GET", crawl + what)
    script.call("begin", "POST", f"{crawl}/iterations", begin)
    script.call("begin the same", "POST", f"{crawl}/iterations", begin)
    for api in apis.values():
        api.wait_for_the_end(1)
    edition.number = 2
    script.call("begin one that is over", "POST", f"{crawl}/iterations", begin)
    script.call("begin one that is too far", "POST", f"{crawl}/iterations", {"iteration": 9})
    script.call("stop what is over", "PUT", f"{crawl}/running", {"change": "stop"})
    script.call("begin the second", "POST", f"{crawl}/iterations", {"type": "schedule", "iteration": 2, "blacklisted_urls": [f"{site.url}/no"]})
    for api in apis.values():
        api.wait_for_the_end(2)
        api.wait_until_published(2, "edition2")
    read(script, site)
    scheduled(script)
    wrong(script)
    return script.answers


def read(script: Script, site: Site) -> None:
    """Every route that reads."""
    crawl = f"/crawls/{CRAWL}"
    page = urlencode({"url": f"{site.url}/winch"})
    targets = ["/healthz", "/metrics", "/openapi.json", "/style.css", "/live.js", f"/crawls/{CRAWL}", f"{crawl}/definition", "/crawls/another"]
    targets += [f"{crawl}/iterations{more}" for more in ["", "?limit=1", "?before=2", "/1", "/2", "/9", "/x"]]
    targets += [f"{crawl}/{what}{more}" for what in ["progress", "summary"] for more in ["", "?iteration=1", "?iteration=9"]]
    targets += [f"{crawl}/{rows}{more}" for rows in ROWS for more in ["", "?iteration=1", "?iteration=2", f"?{page}", "?limit=1000", "?iteration=9"]]
    targets += [f"{crawl}/items?type=Product", f"{crawl}/items?type=Recipe"]
    targets += [f"{crawl}/search?{urlencode(asked)}" for asked in [{"q": "winch"}, {"q": "title:ropes"}, {"q": "nothing-like-it"}, {"q": '"open'}, {"q": "bucket", "per_page": "1", "page": "2"}]]
    targets += [f"{crawl}/similar?{page}", f"{crawl}/similar?{page}&count=1", f"{crawl}/similar?url=https://elsewhere.example/", f"{crawl}/similar?url=nothing"]
    targets += [f"{crawl}/history?{page}", f"{crawl}/history?url={site.url}/unknown", f"{crawl}/history?url=nothing"]
    targets += [f"{crawl}/diff{more}" for more in ["", "?which=visited", "?what=links", "?what=items", "?from=1&to=2", "?from=2&to=1", "?from=1&to=9"]]
    targets += [f"{crawl}/report", f"{crawl}/report?iteration=1", f"{crawl}/report?iteration=9", f"{crawl}/report?format=md"]
    targets += [f"{crawl}/body?{page}{more}" for more in ["", "&iteration=1", "&iteration=2", "&iteration=9", *(f"&as={form}" for form in ["text", "markdown", "html", "json"])]]
    targets += [f"{crawl}/body?url={site.url}/{path}" for path in ["missing", "moved", "private/a", "unknown"]]
    targets += [f"{crawl}/{what}?{asked}" for what in ["backlinks", "explain"] for asked in [page, f"url={site.url}/ropes", f"url={site.url}/private/a", f"url={site.url}/unknown", "url=nothing"]]
    targets += [f"{crawl}/explain?url=https://elsewhere.example/", f"{crawl}/archive", f"{crawl}/archive?iteration=1", f"{crawl}/archive?iteration=9"]
    targets += ["/add", *(f"/view/{CRAWL}{more}" for more in ["", "/pages", "/links", "/items", "/log", "/definition", "/search?q=winch", "/diff"])]
    targets += ["/nothing", f"{crawl}/nothing", f"{crawl}/pages?limit=0", f"{crawl}/pages?limit=1001", f"{crawl}/pages?limit=x", f"{crawl}/pages?other=1", f"{crawl}/pages?cursor=x"]
    for target in targets:
        script.get(target)
    for what in [*ROWS, "history", "backlinks", "diff"]:
        script.get(f"{crawl}/{what}" + (f"?{page}" if what in ("history", "backlinks") else ""), Accept="application/x-ndjson")
    script.get(f"{crawl}/progress", Accept="text/event-stream")
    for method, target in [("POST", crawl), ("DELETE", "/crawls"), ("PUT", f"{crawl}/pages")]:
        script.call(f"{method} {target}", method, target)
    tools = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    script.call("the tools for agents", "POST", "/mcp", tools, Accept="application/json, text/event-stream", MCP_Protocol_Version="2025-06-18")


def scheduled(script: Script) -> None:
    """A crawl with a schedule, until it is removed."""
    crawl, timed = "/crawls/timed", {"name": "timed", "domain_names": ["a.example"], "cron_expression": "0 3 1 1 *", "time_zone": "Europe/Berlin"}
    script.call("add a schedule", "POST", "/crawls", timed)
    for state in ["PAUSED", "PAUSED", "ON", "NEVER"]:
        script.call(f"set it to {state} ({len(script.answers)})", "PUT", f"{crawl}/schedule", {"state": state})
    script.call("pause a crawl without a schedule", "PUT", f"/crawls/{CRAWL}/schedule", {"state": "PAUSED"})
    script.call("remove it", "DELETE", crawl)
    script.call("after that", "GET", crawl)
    script.call("begin what is removed", "POST", f"{crawl}/iterations", {})
    script.call("remove it again", "DELETE", crawl)
    script.call("remove what is not there", "DELETE", "/crawls/another")


def wrong(script: Script) -> None:
    """Bodies that are not answered."""
    as_json = {"Content_Type": "application/json"}
    for what, body, headers in [
        ("no body", b"", as_json),
        ("no JSON", b"{", as_json),
        ("no object", b"[]", as_json),
        ("another media type", b"{}", {"Content_Type": "text/plain"}),
        ("no UTF-8", b'{"name": "\xff"}', as_json),
        ("NUL", b'{"name": "a\\u0000b"}', as_json),
        ("a huge body", b'{"name": "' + b"x" * (3 << 20) + b'"}', as_json),
        ("deep nesting", b"[" * 50_000, as_json),
        ("unknown fields", {"nothing": 1}, {}),
        ("no seeds", {"name": "empty"}, {}),
        ("a bad name", {"name": "../up", "domain_names": ["a.example"]}, {}),
        ("a bad schedule", {"name": "bad", "domain_names": ["a.example"], "cron_expression": "* * * *"}, {}),
        ("many mistakes", {"name": "bad", "domain_names": ["a.example"], "definition": {"budget": {"pages": -1}, "recrawl": {"interval": "x"}}}, {}),
        ("a private key", {"name": "bad", "domain_names": ["a.example"], "definition": {"allow_private": True}}, {}),
        ("two definitions", {"definition": {}, "definition_url": "https://a.example/crawl.yaml"}, {}),
        ("a long key", {"name": "bad", "domain_names": ["a.example"]}, {"Idempotency_Key": "k" * 201}),
    ]:
        script.call(f"add: {what}", "POST", "/crawls", body, **headers)
    for what, body in [("a field that is none", {"nothing": 1}), ("no iteration", {"iteration": 0}), ("a bad URL", {"domain_names": ["http://[::1"]})]:
        script.call(f"begin: {what}", "POST", f"/crawls/{CRAWL}/iterations", body)
    script.call("afterwards there is nothing of them", "GET", "/crawls/bad")


EXPECTED = [
    # a call, the status of its answer, and a part of it
    ("add a crawl", 201, {"name": CRAWL, "version": 1, "state": "ON", "user": "ada"}),
    ("add it again with its key", 200, {"version": 1}),
    ("add it again without a key", 200, {"version": 2}),
    ("before it begins: /search?q=winch", 404, {"detail": f"`{CRAWL}` has nothing to search yet"}),
    ("before it begins: /progress", 404, {"detail": f"`{CRAWL}` has not begun"}),
    ("begin", 202, {"iteration": 1, "trigger": "on-demand-1"}),
    ("begin the same", 200, {"iteration": 1, "trigger": "on-demand-1"}),
    ("begin one that is over", 200, {"iteration": 1, "status": "closed"}),
    ("begin one that is too far", 409, {}),
    ("stop what is over", 409, {}),
    ("begin the second", 202, {"iteration": 2, "trigger": "schedule-2"}),
    (f"GET /crawls/{CRAWL}/progress", 200, {"iteration": 2, "status": "closed", "found": 7, "stuck": 0}),
    (f"GET /crawls/{CRAWL}/search?q=winch", 200, {"pages_indexed": 4}),
    (f"GET /crawls/{CRAWL}/report", 200, None),
    (f"GET /crawls/{CRAWL}/diff", 200, None),
    ("GET /crawls/another", 404, {}),
    ("GET /nothing", 404, {"detail": "there is nothing here"}),
    ("the tools for agents", 200, None),
    ("remove it", 204, None),
    ("after that", 200, {"state": "OFF"}),
    ("begin what is removed", 409, {}),
    ("add: a huge body", 413, {}),
    ("add: no JSON", 400, {}),
    ("add: another media type", 415, {}),
    ("add: many mistakes", 422, {}),
    ("afterwards there is nothing of them", 404, {}),
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("what", "status", "part"), EXPECTED, ids=[what for what, *_ in EXPECTED])
def test_answers_are_as_expected(answers, form, what, status, part):
    answer = answers[what][form]
    assert answer.status == status, answer
    if part is not None:
        said = answer.json()
        assert {name: said.get(name) for name in part} == part


def test_both_give_the_same_answers(answers):
    assert len(answers) > 160
    compared = {what: both_compared(what, both) for what, both in answers.items()}
    differing = {what: both for what, both in compared.items() if both[0] != both[1]}
    assert differing == {}, "\n".join(f"{what}\n  {both}" for what, both in differing.items())


@pytest.mark.parametrize("form", FORMS)
def test_rows_go_on_after_a_cursor(apis, answers, form):
    api, rows, cursor = apis[form], [], None
    while True:
        answer = api.call("GET", f"/crawls/{CRAWL}/log?" + urlencode({"limit": 2, **({"cursor": cursor} if cursor else {})})).json()
        rows += answer["rows"]
        cursor = answer["next"]
        if cursor is None:
            break
    assert plain(rows) == plain(answers[f"GET /crawls/{CRAWL}/log"][form].json()["rows"])


@pytest.mark.parametrize("form", FORMS)
def test_reports_for_programs_agree(apis, answers, form):
    """That of a stack was written when its iteration was over."""
    report = apis[form].call("GET", f"/crawls/{CRAWL}/report?format=json")
    assert (report.status, report.media_type) == (200, "application/json")
    said = report.json()
    assert {finding["id"]: finding["count"] for finding in said["findings"]}["broken"] == 1, "the page that is missing"


@pytest.fixture(scope="module")
def long_answers(stack, answers, apis):
    """Of the stack: reports of the crawl, and the one page of another, longer than can be sent."""
    text = b"word " * (8 << 20 >> 2)
    for form in ["html", "md", "json"]:
        stack.client("s3").put_object(Bucket=stack.outputs["Archive"], Key=f"reports/{CRAWL}/1.{form}", Body=text, Metadata={"dragline-format": "1"})
    # Base64, which does not become much shorter again.
    page = Page(base64.b64encode(random.Random(1).randbytes(7 << 20)), "text/plain")
    with Site(lambda path: page if path == "/" else None) as site:
        definition = {"fetch": {"body_bytes_max": "16MiB"}, "politeness": {"delay": "0s"}}
        apis["stack"].call("POST", "/crawls", {"name": "long", "domain_names": [f"{site.url}/"], "definition": definition})
        apis["stack"].call("POST", "/crawls/long/iterations", {})
        apis["stack"].wait_for_the_end(1, "long")
        return f"{site.url}/"


@pytest.mark.parametrize(
    ("target", "command"),
    [
        ("/crawls/api/report?iteration=1", "dragline report api"),
        ("/crawls/api/report?iteration=1&format=md", "dragline report api"),
        ("/crawls/api/report?iteration=1&format=json", "dragline report api"),
        ("/crawls/long/body?url={page}", "dragline get URL --crawl long"),
        ("/crawls/long/archive", "dragline archive long -o site.wacz"),
    ],
)
def test_an_answer_that_is_too_long_names_the_command(apis, stack, long_answers, dragline, target, command):
    """Its URL cannot send more than 6 MB, whatever is asked for."""
    answer = apis["stack"].call("GET", target.format(page=long_answers))
    assert answer.status == 413, answer
    assert answer.json()["hint"] == f"print it by `{command} --stack {stack.outputs['Tables']}`"
    options = subprocess.run([dragline, command.split()[1], "--help"], check=True, capture_output=True, text=True).stdout
    assert all(word in options for word in [*command.split()[2:], "--stack"] if word.startswith("-")), "the command has these options"


def test_a_definition_that_a_stack_cannot_run_is_refused(apis, answers):
    added = {name: api.call("POST", "/crawls", {"definition": "name: large\nseeds: [https://a.example/]\nfetch: { timeout: 100s }\n"}) for name, api in apis.items()}
    assert added["serve"].status == 201
    assert added["stack"].status == 422 and b"more than a stack can do" in added["stack"].body, added["stack"]


def test_a_definition_is_read_from_the_bucket_of_the_stack_alone(apis, answers, stack, site):
    bucket, api = stack.outputs["Archive"], apis["stack"]
    text = f"name: linked\nseeds: ['{site.url}/']\nbudget: {{ pages: 3 }}\n"
    stack.client("s3").put_object(Bucket=bucket, Key="definitions/linked.yaml", Body=text.encode())
    url = f"s3://{bucket}/definitions/linked.yaml"
    added = api.call("POST", "/crawls", {"definition_url": url})
    assert (added.status, added.json()["name"], added.json()["definition_url"]) == (201, "linked", url)
    assert api.call("GET", "/crawls/linked").json()["definition_url"] == url
    stack.client("s3").put_object(Bucket=bucket, Key="definitions/linked.yaml", Body=text.replace("3", "4").encode())
    definition = lambda: api.call("GET", "/crawls/linked/definition").body
    assert b"pages: 3" in definition()
    stack.tick("Searcher")
    assert b"pages: 4" in definition(), "the file has changed"
    stack.client("s3").put_object(Bucket=bucket, Key="definitions/linked.yaml", Body=b"name: another\nseeds: []\n")
    stack.tick("Searcher")
    assert b"pages: 4" in definition(), "what is not valid changes nothing"
    assert "its definition stays as it is" in stack.log("Searcher")
    for elsewhere in ["https://a.example/crawl.yaml", f"s3://{bucket}/raw/linked.yaml", "s3://another/definitions/linked.yaml", "file:///etc/passwd", "http://169.254.169.254/"]:
        refused = api.call("POST", "/crawls", {"definition_url": elsewhere})
        assert (refused.status, refused.json()["detail"]) == (400, f"`definition_url` is not below s3://{bucket}/definitions/, from where alone it is read")
    assert api.call("POST", "/crawls", {"definition_url": f"s3://{bucket}/definitions/none.yaml"}).status == 404
    given = api.call("POST", "/crawls", {"name": "linked", "domain_names": [site.url]})
    assert (given.status, given.json().get("definition_url")) == (200, None)
    assert "definition_url" not in api.call("GET", "/crawls/linked").json(), "it was given itself, the last time"


ROLES = ["searcher", "reader", "editor", "owner"]


@pytest.fixture(scope="module")
def guarded(stack, dragline, answers, tmp_path_factory):
    """Both servers with tokens, and a token for each role. The stack's are as its parameter has them."""
    data = tmp_path_factory.mktemp("guarded") / "data"
    add = lambda role: subprocess.run([dragline, "token", "add", f"the {role}", "--role", role, "--data", data], check=True, capture_output=True, text=True)  # noqa: E731
    tokens = {role: add(role).stdout.strip() for role in ROLES}
    process, served = serve(dragline, data)
    served.call("POST", "/crawls", {"name": CRAWL, "domain_names": ["a.example"]}, Authorization=f"Bearer {tokens['owner']}")
    with stack.with_variables("Searcher", DRAGLINE_SEARCH_ACCESS="anyone", DRAGLINE_API_TOKENS=(data / "tokens.json").read_text()):
        yield {"serve": served, "stack": of_stack(stack)}, tokens
    process.kill()
    process.wait()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("method", "target", "body", "by_role"),
    [
        # the statuses for nobody, somebody with a wrong token, a searcher, a reader, an editor and
        # an owner
        ("GET", "/crawls", None, (401, 401, 403, 200, 200, 200)),
        ("GET", f"/crawls/{CRAWL}/definition", None, (401, 401, 403, 200, 200, 200)),
        ("GET", f"/crawls/{CRAWL}/search?q=%22", None, (401, 401, 400, 400, 400, 400)),
        ("GET", "/", None, (401, 401, 403, 200, 200, 200)),
        ("POST", "/crawls", {"nothing": 1}, (401, 401, 403, 403, 422, 422)),
        ("POST", f"/crawls/{CRAWL}/iterations", {"iteration": 99}, (401, 401, 403, 403, 409, 409)),
        ("PUT", f"/crawls/{CRAWL}/schedule", {"state": "OFF"}, (401, 401, 403, 403, 403, None)),
        ("DELETE", "/crawls/another", None, (401, 401, 403, 403, 403, 404)),
    ],
)
def test_each_role_may_do_what_it_is_for(guarded, form, method, target, body, by_role):
    apis, tokens = guarded
    callers = [None, "Bearer dragline_0", *(f"Bearer {tokens[role]}" for role in ROLES)]
    for caller, expected in zip(callers, by_role):
        if expected is not None:
            answer = apis[form].call(method, target, body, **({"Authorization": caller} if caller else {}))
            assert answer.status == expected, f"{caller}: {answer}"


def test_without_tokens_anyone_searches_and_does_nothing_else(stack, answers):
    with stack.with_variables("Searcher", DRAGLINE_SEARCH_ACCESS="anyone", DRAGLINE_API_TOKENS=""):
        api = of_stack(stack)
        for method, target, body, expected in [
            ("GET", f"/crawls/{CRAWL}/search?q=winch", None, 200),
            ("GET", "/crawls", None, 403),
            ("GET", f"/crawls/{CRAWL}/definition", None, 403),
            ("POST", "/crawls", {"name": "bad", "domain_names": ["a.example"]}, 403),
            ("POST", f"/crawls/{CRAWL}/iterations", {}, 403),
            ("DELETE", f"/crawls/{CRAWL}", None, 403),
            ("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, 403),
        ]:
            answer = api.call(method, target, body)
            assert answer.status == expected, f"{method} {target}: {answer}"

"""What a crawl left, in one form for both engines: the rows and objects of a stack, the exports and files of the local command.

Instants, file names, and by which of several pages a URL was found differ from one crawl to the next, so they are not in it.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import subprocess
import zlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator, Mapping, Optional

from stack.deployed import Stack


@dataclass(frozen=True)
class Try:
    """How one try at a URL ended: an entry of the log."""

    url: str
    is_final: bool
    outcome: int
    status: Optional[int]
    content_type: Optional[str]
    body_bytes: Optional[int]
    redirects_to: Optional[str]
    capture: Optional[tuple[str, int, int]]
    """The object, offset and length of its record."""


@dataclass(frozen=True)
class Left:
    """All of it."""

    candidates: Mapping[str, tuple]
    """Each URL's last outcome, last contentful one, validators, and its body's digest."""
    log: list[Try]
    progress: Mapping[int, int]
    """How many URLs ended with each outcome, as the engine counts."""
    pages: Mapping[str, tuple]
    """Each page's title, description, language, character set, canonical URL, and text."""
    links: frozenset[tuple]
    """From where, to where, kind, disposition, and the rule where one forbids it."""
    objects: Mapping[str, bytes]
    """The WARC objects."""

    def endings(self) -> dict[str, tuple]:
        """How each URL ended."""
        ends = [entry for entry in self.log if entry.is_final]
        assert len({entry.url for entry in ends}) == len(ends), "a URL ends once"
        what = lambda e: (e.outcome, e.status, e.content_type, e.body_bytes, e.redirects_to)  # noqa: E731
        return {entry.url: what(entry) for entry in ends}

    def bodies(self) -> dict[str, str]:
        """The digest of each URL's body, of the bytes in its WARC record. Fails where the record says another."""
        records = ((entry.url, _record(self.objects, entry.capture)) for entry in self.log if entry.is_final and entry.capture)
        return {url: digest for url, record in records if (digest := _payload_sha1(record)) is not None}


def by_stack(stack: Stack, crawl: str) -> Left:
    """The results of a crawl in a stack."""
    candidates, log, progress = {}, [], Counter()
    for row in stack.rows("candidates", crawl):
        last = json.loads(row["capture"]) if "capture" in row else {}
        digest = bytes(last["decoded_sha1"]).hex() if last.get("decoded_sha1") else None
        contentful = row.get("contentful_outcome")
        ends = (_int(row.get("last_outcome")), _int(contentful), last.get("etag"), last.get("last_modified"), digest)
        candidates[_url(row)] = ends
    for row in stack.rows("log", crawl):
        log += (_try(entry, row.get("object")) for entry in json.loads(zlib.decompress(bytes(row["entries"]), -15)))
    for row in stack.rows("frontier", crawl):
        if row["sk"] == "inbox":
            counted = {name.removeprefix("outcome"): count for name, count in row.items() if name.startswith("outcome")}
            progress.update({int(code.replace("_", "-")): int(count) for code, count in counted.items()})
    pages, links = documents_of(stack, crawl, 1)
    objects = dict(stack.objects(f"raw/{crawl}/1/"))
    return Left(candidates, log, +progress, pages, links, objects)


def documents_of(stack: Stack, crawl: str, iteration: int) -> tuple[dict[str, Any], frozenset[Any]]:
    """The pages and the links in the documents that an iteration put."""
    pages, links = {}, set()
    for _, packed in stack.objects(f"documents/{crawl}/{iteration}/"):
        for document in map(json.loads, gzip.decompress(packed).splitlines()):
            url, page = document["url"], document.get("page")
            if page:
                pages[url] = _page(page)
            links.update((url, link["target"], link["kind"], *_disposition(link["disposition"])) for link in document.get("links", []))
    return pages, frozenset(links)


def items_of_documents(stack: Stack, crawl: str, iteration: int) -> Counter[tuple]:
    """The page, the number and the types of each item in the documents that an iteration put."""
    items: Counter[tuple] = Counter()
    for _, packed in stack.objects(f"documents/{crawl}/{iteration}/"):
        for document in map(json.loads, gzip.decompress(packed).splitlines()):
            found = (document.get("content") or {}).get("items", [])
            items.update((document["url"], n, " ".join(item["types"])) for n, item in enumerate(found))
    return items


def published_items(stack: Stack, crawl: str, iteration: int) -> Counter[tuple]:
    """The same, of the items that were published of it."""
    items: Counter[tuple] = Counter()
    for _, packed in stack.objects(f"items/{crawl}/{iteration}/"):
        items.update((item["url"], item["n"], item["types"]) for item in map(json.loads, gzip.decompress(packed).splitlines()))
    return items


def by_command(dragline: Path, definition: Mapping[str, Any], directory: Path) -> Left:
    """The results of a local crawl."""
    directory.mkdir(parents=True)
    file, data = directory / "crawl.yaml", directory / "data"
    file.write_text(json.dumps(definition))  # JSON is YAML
    subprocess.run([dragline, "crawl", file, "--data", data, "--allow-private", "--quiet"], check=True, stdin=subprocess.DEVNULL)

    def export(what: str) -> Iterator[dict[str, Any]]:
        command = [dragline, "export", "--what", what, "--data", data]
        return map(json.loads, subprocess.run(command, check=True, capture_output=True).stdout.splitlines())

    ends = lambda row: tuple(row[name] for name in CANDIDATE)  # noqa: E731
    log = [
        Try(*(row[name] for name in TRY), capture=(row["object"], row["offset"], row["length"]) if row.get("object") else None)
        for row in export("log")
    ]
    status = subprocess.run([dragline, "status", "--json", "--data", data], check=True, capture_output=True).stdout
    return Left(
        candidates={row["url"]: ends(row) for row in export("candidates")},
        log=log,
        progress={entry["outcome"]: entry["urls"] for entry in json.loads(status)["outcomes"]},
        pages={row["url"]: _page(row) for row in export("pages") if row["charset"] is not None},
        links=frozenset(tuple(row[name] for name in LINK) for row in export("links")),
        objects={str(file.relative_to(data)): file.read_bytes() for file in data.glob("raw/**/*.warc.gz")},
    )


CANDIDATE = ("last_outcome", "last_contentful_outcome", "etag", "last_modified", "decoded_sha1")
TRY = ("url", "final", "outcome", "status", "content_type", "body_bytes", "redirects_to")
LINK = ("from_url", "to_url", "kind", "disposition", "detail")
PAGE = ("title", "description", "language", "charset", "canonical", "text")


def _page(row: Mapping[str, Any]) -> tuple:
    return tuple(row[name] for name in PAGE)


def _url(row: Mapping[str, Any]) -> str:
    return row["pk"].split("#", 1)[1] + row["sk"]


def _try(entry: Mapping[str, Any], object_: Optional[str]) -> Try:
    visit, file, redirect = entry["visit"], entry.get("file"), entry.get("redirect")
    return Try(
        url=entry["url"],
        is_final=visit["finality"] == "final",
        outcome=visit["outcome"],
        status=entry.get("status"),
        content_type=file and file["content_type"],
        body_bytes=file and file["body_bytes"],
        redirects_to=redirect and redirect["target"],
        capture=(object_, file["offset"], file["length"]) if file else None,
    )


def _disposition(disposition: str | Mapping[str, str]) -> tuple[str, Optional[str]]:
    return (disposition, None) if isinstance(disposition, str) else next(iter(disposition.items()))


def _int(number: Any) -> Optional[int]:
    return None if number is None else int(number)


def _record(objects: Mapping[str, bytes], capture: tuple[str, int, int]) -> bytes:
    object_, offset, length = capture
    return gzip.decompress(objects[object_][offset : offset + length])


def _payload_sha1(record: bytes) -> Optional[str]:
    """The digest of a response's body; nothing for a record of another type."""
    head, block = record.split(b"\r\n\r\n", 1)
    fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:])
    if fields["WARC-Type"] != "response":
        return None
    _, body = block[: int(fields["Content-Length"])].split(b"\r\n\r\n", 1)
    digest = hashlib.sha1(body).digest()
    assert fields["WARC-Payload-Digest"] == f"sha1:{base64.b32encode(digest).decode()}", fields
    return digest.hex()

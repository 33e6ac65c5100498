"""Compares the documents of a crawl with the truth about an application."""

from __future__ import annotations

import difflib
import urllib.parse
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from truth import Page, Truth

Document = Mapping[str, Any]
"""A line of `dragline export --what documents`: docs/reference/document.schema.json."""

INGESTED, ASKED_NOT_TO_INGEST = 20, 171
"""Outcomes of pages: docs/reference/outcomes.md."""

LIKENESS_MIN = 0.99

LINKS = ("a", "area")
"""The kinds of links that are elements to click on."""

SHOWN_MAX = 8
"""How many missing words or links are shown of each difference."""


def compare(truth: Truth, documents: Iterable[Document], outcomes: Mapping[str, int] | None = None) -> list[str]:
    """The differences, one a line, sorted by URL: none if the documents are what the truth says.

    `outcomes` has pages that are not to end like others, such as one that says that it is not there with status 200.
    """
    pages: dict[str, list[Document]] = {}
    for document in documents:
        if document["page"] is not None:
            pages.setdefault(document["url"], []).append(document)
    differences = []
    for url in sorted(truth.keys() | pages.keys()):
        if url not in truth:
            found = ["it is no page of the application"]
        elif url not in pages:
            found = ["it has no document of a page"]
        elif len(pages[url]) > 1:
            found = [f"it has {len(pages[url])} documents"]
        else:
            found = [*_compare(truth[url], pages[url][0], (outcomes or {}).get(url))]
        differences += [f"{url}: {difference}" for difference in found]
    return differences


def _compare(page: Page, document: Document, outcome: int | None) -> Iterator[str]:
    is_kept = not asks_noindex(page)
    usual = INGESTED if is_kept else ASKED_NOT_TO_INGEST
    if document["outcome"] != (outcome or usual):
        yield f"its outcome is {document['outcome']} ({document['detail']}), not {outcome or usual}"
    title = (page["title"] or None) if is_kept else None
    if document["page"]["title"] != title:
        yield f"its title is {document['page']['title']!r}, not {title!r}"
    yield from _compare_texts(page["text"] if is_kept else "", document["page"]["text"])
    links = {urllib.parse.urldefrag(link["target"]).url for link in document["links"] if link["kind"] in LINKS}
    if missing := page["links"] - links:
        yield f"it lacks links: {_some(sorted(missing), ', ')}"
    if surplus := links - page["links"]:
        yield f"it has links that are not there: {_some(sorted(surplus), ', ')}"


def asks_noindex(page: Page) -> bool:
    return bool({"noindex", "none"} & {word.strip().lower() for word in (page["robots"] or "").split(",")})


def _compare_texts(expected: str, text: str) -> Iterator[str]:
    # Words, as where lines and blanks are is up to the layout, and no loss. By letters, any two
    # texts of one language are rather alike, and the comparison takes the square of their length.
    before, after = expected.split(), text.split()
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    if (likeness := matcher.ratio()) >= LIKENESS_MIN:
        return
    missing, surplus = [], []
    for kind, from_before, to_before, from_after, to_after in matcher.get_opcodes():
        if kind != "equal":
            missing += before[from_before:to_before]
            surplus += after[from_after:to_after]
    parts = [f"{what} “{_some(words, ' ')}”" for what, words in (("it lacks", missing), ("it has", surplus)) if words]
    # Rounded down, so that what is too little does not look as if it were enough.
    yield f"its text is alike by {int(likeness * 1000) / 1000}: {', '.join(parts)}"


def _some(things: list[str], between: str) -> str:
    more = len(things) - SHOWN_MAX
    return between.join(things[:SHOWN_MAX]) + (f" … ({more} more)" if more > 0 else "")

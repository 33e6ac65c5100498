"""The judge finds each kind of difference, and none where there is none."""

from __future__ import annotations

from typing import Any

import pytest
from judge import ASKED_NOT_TO_INGEST, INGESTED, compare
from truth import Page, Truth

HOME = "http://h.test/"
WORDS = " ".join(f"word{number}" for number in range(200))


def page(**changes: Any) -> Page:
    links = {f"{HOME}a", f"{HOME}b?c=d", "https://other.test/"}
    usual = Page(title="Home", text=WORDS, links=links, unfollowed=set(), robots=None, description=None, canonical=None)
    return Page(**{**usual, **changes})


def document(**changes: Any) -> dict[str, Any]:
    """What the crawler makes of such a page; a key that a page has is changed there."""
    targets = [f"{HOME}a", f"{HOME}b?c=d", f"{HOME}a#part", "https://other.test/"]
    links = [{"kind": "a", "target": target, "disposition": "follow"} for target in targets]
    links += [{"kind": kind, "target": f"{HOME}{kind}", "disposition": "not_a_page"} for kind in ("img", "script", "canonical")]
    inner = {"title": "Home", "text": WORDS, "description": None, "language": "en", "canonical": None}
    whole = {"n": 0, "url": HOME, "outcome": INGESTED, "detail": None, "state": "processed", "links": links, "page": inner}
    within = {key: value for key, value in changes.items() if key in inner}
    return {**whole, **{key: value for key, value in changes.items() if key not in inner}, "page": {**inner, **within}}


def truth(**changes: Any) -> Truth:
    return {HOME: page(**changes)}


ROBOTS = {"n": 1, "url": f"{HOME}robots.txt", "outcome": 29, "detail": None, "state": "processed", "links": [], "page": None}


def test_equal_pages_have_no_differences_and_other_files_do_not_count() -> None:
    assert compare(truth(), [document(), ROBOTS]) == []


@pytest.mark.parametrize(
    "text",
    [WORDS.replace(" ", "\n\n  "), WORDS.replace(" word77 ", " "), f"{WORDS} more"],
    ids=["laid out in another way", "one word of many is lost", "one is added"],
)
def test_texts_that_are_nearly_alike_are_alike(text: str) -> None:
    assert compare(truth(), [document(text=text)]) == []


LINKS = document()["links"]


@pytest.mark.parametrize(
    ("changed", "difference"),
    [
        (document(links=[link for link in LINKS if link["target"] != f"{HOME}b?c=d"]), "it lacks links: http://h.test/b?c=d"),
        (document(links=[*LINKS, {"kind": "area", "target": f"{HOME}e"}]), "it has links that are not there: http://h.test/e"),
        (document(title="Other"), "its title is 'Other', not 'Home'"),
        (document(title=None), "its title is None, not 'Home'"),
        (
            document(text=WORDS.partition(" word190")[0]),
            "its text is alike by 0.974: it lacks “word190 word191 word192 word193 word194 word195 word196 word197 … (2 more)”",
        ),
        (document(text=f"You need JavaScript. {WORDS}"), None),
        (document(text="Loading…"), "its text is alike by 0.0: it lacks “word0 word1 word2 word3 word4 word5 word6 word7 … (192 more)”, it has “Loading…”"),
        (document(outcome=182, detail="missing_page"), "its outcome is 182 (missing_page), not 20"),
    ],
    ids=["link lost", "link added", "other title", "no title", "text cut", "notice within the limit", "not rendered", "other outcome"],
)
def test_each_difference_is_reported_alone(changed: dict[str, Any], difference: str | None) -> None:
    assert compare(truth(), [changed]) == ([f"{HOME}: {difference}"] if difference else [])


def test_a_short_page_may_not_differ_by_a_word() -> None:
    assert compare(truth(text="Not found There is no such page"), [document(text="Not found There is such page")]) == [
        f"{HOME}: its text is alike by 0.923: it lacks “no”"
    ]


def test_pages_that_are_missing_added_or_there_twice_are_reported() -> None:
    other = f"{HOME}other"
    assert compare({HOME: page(), other: page()}, [document()]) == [f"{other}: it has no document of a page"]
    assert compare(truth(), [document(), document(url=other)]) == [f"{other}: it is no page of the application"]
    assert compare(truth(), [document(), document(n=1)]) == [f"{HOME}: it has 2 documents"]
    assert compare(truth(), []) == [f"{HOME}: it has no document of a page"]


def test_a_page_that_asks_for_noindex_keeps_nothing_but_its_links() -> None:
    asking = truth(robots="NoIndex, follow")
    assert compare(asking, [document(outcome=ASKED_NOT_TO_INGEST, title=None, text="")]) == []
    kept = compare(asking, [document()])
    assert [line.split(": ", 1)[1].partition(" is ")[0] for line in kept] == ["its outcome", "its title", "its text"], kept


def test_a_page_may_be_said_to_end_otherwise() -> None:
    assert compare(truth(), [document(outcome=182)], {HOME: 182}) == []
    assert compare(truth(), [document()], {HOME: 182}) == [f"{HOME}: its outcome is 20 (None), not 182"]

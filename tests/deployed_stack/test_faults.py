"""Faults of AWS, inflicted on a deployed stack. Each crawl ends by itself, complete.

The sweeper comes when it is called, more often than its rule would send it; nothing else is helped.
"""

from __future__ import annotations

import json
import time
from contextlib import ExitStack
from dataclasses import dataclass, field

import pytest

import invariants
from left import by_command, by_stack
from sites import Page, Site, of_pages
from stack.deployed import SWEEP_SECONDS, Stack, eventually

DELAY_SECONDS = 0.3

PAGES = 30

FORBIDDEN_LINKS = 10
"""Links on the first page that a rule forbids: each is a candidate that is written and never fetched."""

MANY_FORBIDDEN_LINKS = 1_500
"""Enough that the parse of the page takes a while."""


def site(forbidden_links: int) -> Site:
    """A first page that leads to most others, so that a turn has much to do; one is missing, one has moved, and robots.txt forbids one."""

    def page(number: int) -> Page:
        children = range(1, PAGES - 3) if number == 0 else [child for child in (number + 1,) if child < PAGES]
        links = [f"/{child}" for child in children] + ["/", "/private/page", "/missing", "/moved"]
        links += [f"/forbidden/{n}" for n in range(forbidden_links)] if number == 0 else []
        anchors = "".join(f'<a href="{link}">{link}</a> ' for link in links)
        return Page(f"<title>Page {number}</title>{anchors}".encode())

    pages = {f"/{number}": page(number) for number in range(1, PAGES)}
    robots = Page(b"User-agent: *\nDisallow: /private/\n", "text/plain")
    moved = Page(b"moved", location="/1")
    return Site(of_pages({"/": page(0), "/robots.txt": robots, "/moved": moved, **pages}))


def definition(name: str, site: Site) -> dict:
    return {
        "name": name,
        "seeds": [f"{site.url}/"],
        "politeness": {"delay": f"{int(DELAY_SECONDS * 1000)}ms"},
        "do_not_crawl": [{"when": {"path": {"prefix": "/forbidden/"}}, "reason": "there are so many"}],
    }


@dataclass
class Faults:
    """The faults inflicted, and when."""

    sites: dict[str, Site]
    crawler_deaths: list[float] = field(default_factory=list)
    parser_deaths: int = 0
    deleted: list[str] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)


NAMES = ["message-repeated", "store-throttles", "parser-killed", "message-deleted", "crawler-killed"]
"""In the order in which they end, so that each can be looked at while others go on."""

GRACE_MS = 60_000
"""How long after a lease has run out the sweeper would look by itself."""


@pytest.fixture(scope="session")
def strikes(faulty):
    """Five concurrent crawls, each with its own fault, which may affect the others, too. They are not over yet."""
    sites = {name: site(MANY_FORBIDDEN_LINKS if name == "parser-killed" else FORBIDDEN_LINKS) for name in NAMES}
    faults = Faults(sites)
    start = lambda name: faulty.command({"definition": definition(name, sites[name])})  # noqa: E731
    with ExitStack() as entered:
        # The rest of the crawls waits until this test calls the sweeper.
        entered.enter_context(faulty.silent("Sweeper"))
        for served in sites.values():
            entered.enter_context(served)
        # A killed crawler's lease must run out, which takes longest.
        start("crawler-killed")
        kill_a_crawler_in_the_middle(faulty, faults)
        start("parser-killed")
        kill_a_parser_in_the_middle(faulty, faults)
        tamper_with_tickets(faulty, faults, start)
        with faulty.throttling(0.1):
            start("store-throttles")
            eventually("a site that is asked", lambda: len(sites["store-throttles"].asked) > PAGES // 2)
        yield faults


@pytest.fixture(scope="module")
def struck(faulty, strikes):
    """What was done, when every crawl is over. Other tests run before those that ask for this, as a lease must run out."""
    for name in NAMES:
        wait_for_the_end(faulty, name)
    return strikes


@pytest.fixture(scope="module", params=NAMES)
def crawl(request, faulty, strikes):
    """One of the crawls, when it is over."""
    name = request.param
    wait_for_the_end(faulty, name)
    return name, by_stack(faulty, name), strikes.sites[name]


def wait_for_the_end(stack: Stack, name: str) -> None:
    eventually(f"the end of {name}", lambda: stack.is_over_after_a_sweep(name), SWEEP_SECONDS)


def kill_a_parser_in_the_middle(stack: Stack, faults: Faults) -> None:
    """When some of a page's links are claimed, and the segment is not marked as parsed."""

    def is_in_the_middle():
        claimed = sum(1 for row in stack.rows("candidates", "parser-killed"))
        return 1 < claimed < MANY_FORBIDDEN_LINKS

    eventually("a parse that claims links", is_in_the_middle, pause_seconds=0)
    faults.parser_deaths = stack.kill("Parser")
    states = {row["state"] for row in stack.rows("frontier", "parser-killed") if row["sk"].startswith("segment#")}
    assert states == {"crawled"}, "it died before its commit"


def kill_a_crawler_in_the_middle(stack: Stack, faults: Faults) -> None:
    """When it has fetched pages but not committed them."""
    asked = faults.sites["crawler-killed"].asked

    eventually("a turn that is far beyond the first page", lambda: len(asked) > 8, pause_seconds=0.02)
    assert stack.kill("Crawler")
    faults.crawler_deaths.append(time.monotonic())
    segments = [row for row in stack.rows("frontier", "crawler-killed") if row["sk"].startswith("segment#")]
    assert len(segments) == 1, "it died with pages that it had not committed"
    (lease,) = (row for row in stack.rows("frontier", "crawler-killed") if row["sk"] == "lease")
    look_at_it_as_soon_as_it_is_free(stack, lease)


def look_at_it_as_soon_as_it_is_free(stack: Stack, lease: dict) -> None:
    """The sweeper would look at a lease some time after it ran out, and this test would wait for that."""
    assert lease["due"] == lease["free_from"] + GRACE_MS, "it would have been looked at"
    free_from = int(lease["free_from"])
    stack.set_times("frontier", lease["pk"], lease["sk"], due=free_from, due_slot=free_from)


def tamper_with_tickets(stack: Stack, faults: Faults, start) -> None:
    """One ticket is deleted before a crawler sees it, another is delivered four times."""
    queue = stack.queue("Turns")
    with stack.held_back("Crawler"):
        start("message-deleted")
        start("message-repeated")

        def look():
            for message in stack.sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10, VisibilityTimeout=30).get("Messages", []):
                body = message["Body"]
                if crawl_of(body) == "message-deleted":
                    stack.sqs.delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])
                    faults.deleted.append(body)
                    continue
                if crawl_of(body) == "message-repeated" and not faults.repeated:
                    faults.repeated = [body] * 3
                    for again in faults.repeated:
                        stack.sqs.send_message(QueueUrl=queue, MessageBody=again)
                stack.sqs.change_message_visibility(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=0)
            return faults.deleted and faults.repeated

        eventually("both tickets", look)


def crawl_of(body: str) -> str | None:
    """The crawl that a ticket is for."""
    return json.loads(body).get("ticket", {}).get("origin", {}).get("crawl")


def test_each_fault_was_done(strikes):
    assert strikes.parser_deaths and strikes.crawler_deaths and strikes.deleted and strikes.repeated


def test_every_invariant_holds(faulty, strikes, crawl):
    name, left, served = crawl
    invariants.every_candidate_has_one_ending(faulty, name, left)
    invariants.nothing_is_fetched_twice(served, strikes.crawler_deaths)
    invariants.no_request_comes_early(served, DELAY_SECONDS)
    invariants.robots_are_read_first_and_obeyed(served, "/private/")
    invariants.progress_equals_the_log(left)
    invariants.nothing_is_under_way(faulty, name)
    invariants.every_capture_can_be_read(left)


def test_all_that_is_there_is_crawled_as_without_faults(crawl, dragline, tmp_path):
    name, left, served = crawl
    local = by_command(dragline, definition(name, served) | {"politeness": {"delay": "0s"}}, tmp_path / "local")
    assert left.candidates == local.candidates
    assert left.endings() == local.endings()
    assert (left.pages, left.links, left.bodies()) == (local.pages, local.links, local.bodies())


def test_the_faults_were_there(faulty, struck):
    assert "signal: 9" in faulty.log("Parser") and "signal: 9" in faulty.log("Crawler"), "a process was killed at work"
    assert "throttl" in (faulty.log("Crawler") + faulty.log("Parser")).lower(), "a refusal was logged"

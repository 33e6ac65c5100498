"""Sites, definitions and commands that exercise everything the functions do, unless it takes hours."""

from __future__ import annotations

import json
import random
from contextlib import ExitStack, suppress
from datetime import datetime, timedelta, timezone
from typing import Callable

from sites import Page, Site, of_pages
from stack.deployed import SWEEP_SECONDS, Stack

ROBOTS_BYTES_MIN = 400_000
"""Large enough that robots.txt exceeds the 100 KiB of its row even when compressed."""

BUDGET = {"budget": {"pages": 3}}
"""Fewer than the sites have, so that there are leftovers."""

LOGIN = "ada:correct horse"
"""Who may see one of the sites."""

ITEM = '<script type="application/ld+json">{"@context": "https://schema.org", "@type": "Product", "name": "A thing"}</script>'
"""So that there is something to publish."""


def large_robots() -> Page:
    """Rules that compress badly, the same in each run."""
    draw = random.Random(1)
    lines = ["User-agent: *"]
    while sum(map(len, lines)) < ROBOTS_BYTES_MIN:
        lines.append(f"Disallow: /{draw.randbytes(600).hex()}")
    return Page("\n".join(lines).encode(), "text/plain")


def pages(**others: str) -> dict[str, Page]:
    """Some that link to each other, to one that is not there, and to other sites."""
    links = {"/": ["/a", "/b", *others.values()], "/a": ["/b"], "/b": ["/", "/missing"]}
    anchors = lambda targets: " ".join(f'<a href="{target}">{target}</a>' for target in targets)  # noqa: E731
    return {path: Page(f"<title>{path}</title>{ITEM}{anchors(targets)}".encode()) for path, targets in links.items()}


class Scenario:
    """Sends commands to a stack and waits for their effects."""

    def __init__(self, stack: Stack, eventually: Callable[..., object]) -> None:
        """`eventually` waits until something is seen, as that of a stack does."""
        self._stack, self._eventually = stack, eventually

    def run(self) -> None:
        """All of it."""
        with ExitStack() as entered:
            broken = entered.enter_context(Site(of_pages({"/robots.txt": Page(b"", "text/plain", status=503)})))
            other = entered.enter_context(Site(of_pages(pages())))
            wide = {**pages(other=f"{other.url}/", broken=f"{broken.url}/"), "/robots.txt": large_robots()}
            site = entered.enter_context(Site(of_pages(wide)))
            members = entered.enter_context(Site(of_pages(pages()), LOGIN))
            self._a_url(site)
            self._a_log_in(members)
            self._a_schedule(site)
            self._commands_while_it_runs(other)
            self._calls(other)

    def _a_url(self, site: Site) -> None:
        """And robots.txt as an object, read again by whoever has the origin's next turn."""
        self._stack.command({"url": f"{site.url}/"})
        # The crawl is named after host and port.
        crawl = site.url.removeprefix("http://").replace(":", "-")
        self._wait_for_the_end(crawl)
        self._eventually("the items of the iteration", lambda: any(self._stack.objects(f"items/{crawl}/1/product/")))

    def _a_log_in(self, site: Site) -> None:
        """By a secret."""
        self._stack.client("secretsmanager").create_secret(Name="members/login", SecretString=LOGIN)
        rule = {"hosts": [site.url.removeprefix("http://")], "basic": "secret:members/login", "allow_plain": True}
        self._stack.command({"definition": {"name": "members", "seeds": [f"{site.url}/"], "access": [rule]}})
        self._wait_for_the_end("members")

    def _a_schedule(self, site: Site) -> None:
        """Over several origins, of which one cannot be crawled; and a second time, when what is known is not yet due."""
        definition = {
            "name": "wide",
            "seeds": [f"{site.url}/"],
            "scope": {"within": "host"},
            "politeness": {"delay": "0s"},
            "recrawl": {"interval": "1d"},
            "schedule": {"cron": "0 8 * * *"},
        }
        self._stack.command({"put_crawl": {"definition": definition}})
        self._eventually("the schedule of the crawl", lambda: self._stack.row("wide", "spec"))
        self._let_it_be_due("wide")
        self._stack.tick("Scheduler")
        self._wait_for_the_end("wide")
        # The second publication begins with the index of the first.
        self._eventually("the report on the iteration", lambda: any(self._stack.objects("reports/wide/1.html")))
        self._stack.command({"start": {"crawl": "wide"}})
        self._wait_for_the_end("wide", 2)
        self._eventually("the report on the second", lambda: any(self._stack.objects("reports/wide/2.html")))
        self._eventually("an answer to a search", lambda: self._stack.search("wide", q="thing")[0] == 200)

    def _commands_while_it_runs(self, site: Site) -> None:
        """The budget ends the first iteration, a stop the second."""
        definition = {"name": "short", "seeds": [f"{site.url}/"], **BUDGET}
        self._stack.command({"definition": definition})
        self._wait_for("short", 1, "open")
        self._stack.command({"pause": {"crawl": "short"}})
        self._wait_for("short", 1, "paused")
        # Skipped, with a notice.
        self._stack.command({"start": {"crawl": "short", "trigger": "while-it-runs"}})
        self._eventually("the command's mark", lambda: self._stack.row("short", "trigger#while-it-runs"))
        self._stack.command({"resume": {"crawl": "short"}})
        self._wait_for("short", 1, "open")
        # A ticket that came while it was paused is sent again.
        self._let_it_be_overdue("short", site)
        self._wait_for_the_end("short")
        self._stack.command({"start": {"crawl": "short"}})
        self._wait_for("short", 2, "open")
        self._stack.command({"stop": {"crawl": "short"}})
        self._wait_for_the_end("short", 2)
        self._stack.command({"remove": {"crawl": "short"}})
        self._eventually("the crawl's end", lambda: self._stack.row("short", "spec").get("switch") == "off")

    def _calls(self, site: Site) -> None:
        """The API reads a definition from the bucket, begins and changes an iteration, and reads what it left."""
        key, text = "definitions/called.yaml", f"{{name: called, seeds: ['{site.url}/'], politeness: {{delay: 0s}}}}"
        bucket = self._stack.outputs["Archive"]
        self._stack.client("s3").put_object(Bucket=bucket, Key=key, Body=text.encode())
        self._call("POST", "/crawls", {"definition_url": f"s3://{bucket}/{key}"})
        self._call("POST", "/crawls/called/iterations", {})
        self._call("PUT", "/crawls/called/running", {"change": "pause"})
        # Skipped, with a notice.
        self._call("POST", "/crawls/called/iterations", {})
        self._call("PUT", "/crawls/called/running", {"change": "resume"})
        self._let_it_be_overdue("called", site)
        self._wait_for_the_end("called")
        self._eventually("the report on the iteration", lambda: any(self._stack.objects("reports/called/1.html")))
        reads = ["", "/definition", "/iterations", "/progress", "/summary", "/pages", "/links", "/items", "/log", "/candidates"]
        reads += ["/pages?iteration=1", "/links?iteration=1", f"/history?url={site.url}/", "/report"]
        reads += ["/report?format=md", "/archive", *(f"/{what}?url={site.url}/" for what in ["body", "backlinks", "explain"])]
        for target in ["/crawls", *(f"/crawls/called{read}" for read in reads)]:
            self._call("GET", target)
        self._eventually("an answer to a search", lambda: self._stack.search("called", q="thing")[0] in (200, 404))
        self._call("DELETE", "/crawls/called")

    def _call(self, method: str, target: str, body: dict | None = None) -> None:
        sent = None if body is None else json.dumps(body).encode()
        status, _, answer = self._stack.call(method, target, sent, {"Content-Type": "application/json"})
        # Whatever is refused is told by the gate.
        self._eventually(f"what may be asked for by {method} {target}", lambda: True)
        assert status < 300, answer

    def _wait_for(self, crawl: str, number: int, status: str) -> None:
        stands = lambda: self._stack.iteration(crawl, number).get("status") == status  # noqa: E731
        self._eventually(f"iteration {number} of {crawl} {status}", stands)

    def _wait_for_the_end(self, crawl: str, number: int = 1) -> None:
        is_over = lambda: self._stack.is_over_after_a_sweep(crawl, number)  # noqa: E731
        self._eventually(f"the end of iteration {number} of {crawl}", is_over, SWEEP_SECONDS)

    def _let_it_be_due(self, crawl: str) -> None:
        """Moves the schedule's next time into the past."""
        self._stack.set_times("crawls", crawl, "spec", agenda_at=_yesterday_unix_ms())

    def _let_it_be_overdue(self, crawl: str, site: Site) -> None:
        """Makes an origin overdue for the sweeper, if it has a due time."""
        with suppress(self._stack.client("dynamodb").exceptions.ConditionalCheckFailedException):
            self._stack.set_times("frontier", f"{crawl}#{site.url}", "lease", due=_yesterday_unix_ms())


def _yesterday_unix_ms() -> int:
    yesterday = datetime.now(timezone.utc) - timedelta(days=1)
    return int(yesterday.timestamp() * 1000)

"""A stack on an emulator, deployed as it would be on AWS: a message begins a crawl, and the event source mappings do the rest."""

from __future__ import annotations

import random
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Mapping

from bill import invocations
from bill.invocations import Invocation
from bill.shapes import Shape
from bill.sites import Sites, words
from bill.standing import Fixtures
from stack import sam
from stack.deployed import SWEEP_SECONDS, Stack, eventually

FUNCTIONS = ("Scheduler", "Crawler", "Parser", "Sweeper", "Publisher", "Searcher")

LOOK_SECONDS = 2


def _name(sites: Sites) -> str:
    """The name of their crawl."""
    return f"bill-{sites.port}"


class Trouble(Exception):
    """Why a crawl could not be measured."""


class Deployment:
    """Built and deployed, with the functions that DRAGLINE_BOOTSTRAPS names."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._billed: set[str] = set()
        with TemporaryDirectory() as built:
            sam.build(environ, Path(built))
            sam.deploy(environ, Path(built))
        self._stack = Stack(environ, "dragline")

    def crawl(self, shape: Shape, sites: Sites, nth: int, patience_seconds: float) -> None:
        """Crawls a shape's sites to the end, for the first time or again."""
        name = _name(sites)
        sites.fetched.clear()
        politeness = {"delay": f"{round(shape.delay_seconds * 1000)}ms"}
        command = {"definition": {"name": name, "seeds": sites.seeds, "politeness": politeness}}
        self._stack.command(command)
        deadline = time.monotonic() + patience_seconds
        while not self._is_done(name, nth):
            if time.monotonic() > deadline:
                raise Trouble(f"{name} did not end within {patience_seconds:g} s: {sites.fetched.total()} of {shape.pages_of_all} pages fetched")
            time.sleep(LOOK_SECONDS)
        wrong = {url: count for url, count in sites.fetched.items() if count != 1}
        if len(sites.fetched) != shape.pages_of_all or wrong:
            raise Trouble(f"{name} fetched {len(sites.fetched)} pages of {shape.pages_of_all}, not once: {wrong}")

    def publish(self, sites: Sites, nth: int) -> None:
        """Lets the sweeper close an iteration, and waits until what is made of it is there."""
        eventually("the end of the iteration", lambda: self._stack.is_over_after_a_sweep(_name(sites), nth), SWEEP_SECONDS)
        eventually("the report", lambda: any(self._stack.objects(f"reports/{_name(sites)}/{nth}.html")), LOOK_SECONDS)
        eventually("the end of the publication", lambda: self._stack.waiting("Publications") == 0, LOOK_SECONDS)

    def search(self, shape: Shape, sites: Sites) -> None:
        """Asks for words that the pages have, one or two at a time."""
        draw = random.Random(shape.name)
        for nth in range(shape.searches):
            status, answer = self._stack.search(_name(sites), q=" ".join(words(draw, shape.words, 1 + nth % 2)))
            if status != 200:
                raise Trouble(f"a search failed: {answer}")

    def take_invocations(self) -> list[Invocation]:
        """The finished invocations that were not taken before."""
        fresh = [one for one in self._invocations() if one.request_id not in self._billed]
        self._billed.update(one.request_id for one in fresh)
        return fresh

    def fixtures(self, metrics: int) -> Fixtures:
        """What it has that costs money just by existing."""
        kinds = [resource["ResourceType"] for resource in self._stack.resources()]
        mappings = kinds.count("AWS::Lambda::EventSourceMapping")
        return Fixtures(mappings=mappings, alarms=kinds.count("AWS::CloudWatch::Alarm"), metrics=metrics)

    def _is_done(self, crawl: str, nth: int) -> bool:
        """Whether no origin is open, so that the next sweep closes the iteration."""
        return self._stack.iteration(crawl, nth).get("open") == 0

    def _invocations(self) -> list[Invocation]:
        return [one for function in FUNCTIONS for one in invocations.of_logs(function.lower(), self._stack.logs(function))]

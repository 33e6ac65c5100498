"""The command line."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Sequence

from bill import report, shapes, usage
from bill.deployment import Deployment, Trouble
from bill.invocations import Invocation
from bill.shapes import Shape
from bill.sites import Sites
from stack.failure import Failure

PATIENCE_SECONDS = 1_800
"""Patience for a crawl on a busy machine, beyond the waits of its pace."""


def main(arguments: Sequence[str]) -> int:
    """Crawls each requested shape and prints its bill; returns the exit status."""
    options = _parse(arguments)
    try:
        deployment = Deployment(os.environ)
        deployment.take_invocations()  # an emulator that was running already may have crawled before
        everything = [one for shape in _shapes(options) for one in _measure(deployment, shape)]
    except (Trouble, Failure) as trouble:
        print(f"bill: {trouble}", file=sys.stderr)
        return 1
    metrics = {(one.function, name) for one in everything if one.used for name in one.used.metrics}
    print(report.standing(deployment.fixtures(len(metrics)), usage.of_ticks(everything)))
    return 0


def _measure(deployment: Deployment, shape: Shape) -> list[Invocation]:
    with Sites(shape) as sites:
        for nth in range(1, shape.crawls + 1):
            deployment.take_invocations()  # of the crawl before, which is not measured
            deployment.crawl(shape, sites, nth, shape.pages_of_all * shape.delay_seconds + PATIENCE_SECONDS)
            deployment.publish(sites, nth)
        deployment.search(shape, sites)
    invocations = deployment.take_invocations()
    print(report.crawl(shape, usage.of_pages(invocations)), flush=True)
    print(report.publication(shape, usage.of_publications(invocations)), flush=True)
    if shape.searches:
        print(report.searches(usage.of_searches(invocations)), flush=True)
    return invocations


def _shapes(options: argparse.Namespace) -> list[Shape]:
    chosen = {
        "many": [shapes.many_origins(origins, delay) for delay in options.delay for origins in options.origins],
        "one": [shapes.one_origin(options.one_delay)],
        "chain": [shapes.chain(options.chain_delay)],
        "search": [shapes.searched()],
        "again": [shapes.again(origins, delay) for delay in options.delay for origins in options.origins],
        "publish": [shapes.published()],
        "blobs": [shapes.blobs(1.0)],
    }
    return [shape for name in options.shape for shape in chosen[name]]


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bill", description=__doc__)
    parser.add_argument("--shape", nargs="+", choices=["many", "again", "one", "chain", "publish", "search", "blobs"], default=["many", "again", "one", "chain", "publish", "search"], help="which crawls")
    parser.add_argument("--origins", nargs="+", type=int, default=[20], help="how many origins `many` and `again` have; one crawl for each number")
    parser.add_argument("--delay", nargs="+", type=float, default=[1.0], help="delays of `many` and `again` in seconds; one crawl for each")
    parser.add_argument("--one-delay", type=float, default=0.05, help="the delay of `one` in seconds")
    parser.add_argument("--chain-delay", type=float, default=0.05, help="the delay of `chain` in seconds")
    return parser.parse_args(arguments)

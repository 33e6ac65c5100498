"""The command line of bench/run."""

import argparse
import json
import pathlib
import sys
from dataclasses import asdict

from . import instructions, many, rendered, report
from .crawlers import DRAGLINE, installed
from .crawls import rounds
from .places import RELEASE
from .shapes import SHAPES, chosen


def main(arguments):
    options = parsed(arguments)
    if options.list:
        for shape in SHAPES:
            print(f"{shape.name:10} {shape.title}{' (long)' if shape.is_long else ''}")
        return 0
    if options.stages:
        return instructions.show_stages(options.server)
    if options.many:
        return many.show(options.many, options.delay, options.server)
    if options.rendered_many:
        return rendered.show_many(options.rendered_many)
    if options.rendered:
        return rendered.show(options.shapes, options.rounds, options.crawlers, options.json)
    if options.short:
        return instructions.check(options.server)
    if options.record:
        return instructions.record(options.server)
    return crawls(options)


def parsed(arguments):
    parser = argparse.ArgumentParser(prog="bench/run", description="Measures crawls on loopback at delay 0: docs/measurements/performance.md says what each figure means.")
    parser.add_argument("shapes", nargs="*", metavar="SHAPE", help="what to crawl [default: all shapes that are not long]")
    parser.add_argument("--all", action="store_true", help="also the shapes that take long")
    parser.add_argument("--list", action="store_true", help="list the shapes")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="how often each crawler crawls each shape [default: 3]")
    parser.add_argument("--crawlers", metavar="NAMES", help="only these crawlers, comma-separated, besides dragline")
    parser.add_argument("--server", type=pathlib.Path, default=RELEASE / "bench-server", metavar="FILE", help="the server [default: target/release/bench-server]")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write all figures to a file, too")
    parser.add_argument("--stages", action="store_true", help="count the instructions of each stage of a short crawl, under valgrind")
    parser.add_argument("--many", type=int, metavar="N", help="crawl this many origins of five pages politely, and say how long that takes and what memory")
    parser.add_argument("--delay", type=int, default=1, metavar="S", help="the delay of --many, in seconds [default: 1]")
    parser.add_argument("--rendered", action="store_true", help="crawl applications in a browser, beside Playwright and Crawlee; SHAPEs are synthetic, react, svelte, vue")
    parser.add_argument("--rendered-many", type=int, metavar="N", help="crawl an application of this many pages in a browser, and say whether memory grows")
    parser.add_argument("--short", action="store_true", help="count the instructions of a short crawl, and fail if they have grown by a quarter")
    parser.add_argument("--record", action="store_true", help="count them and record the figure that --short compares with")
    return parser.parse_args(arguments)


def crawls(options):
    """Crawls the chosen shapes, and prints the tables."""
    crawlers = installed()
    if options.crawlers is not None:
        wanted = {DRAGLINE.name, *options.crawlers.split(",")}
        crawlers = [crawler for crawler in crawlers if crawler.name in wanted]
    machine = report.machine()
    print(", ".join(f"{name} {value}" for name, value in machine.items()))
    print(f"crawlers: {'; '.join(crawler.name for crawler in crawlers)}")
    results = []
    for shape in chosen(options.shapes, options.all):
        print(f"\n{shape.name}: {shape.title}", flush=True)
        done = rounds(shape, crawlers, options.rounds, options.server, lambda crawl: print(report.line(crawl), file=sys.stderr, flush=True))
        print("\n".join([*report.table(done), *report.ratio_lines(done)]), flush=True)
        results.append({"shape": shape.name, "crawls": [asdict(crawl) for crawl in done], "ratios": report.ratios(done)})
    print("\nEach figure is minimum / median / maximum of the rounds; a ratio is of two crawls of one round.")
    if options.json:
        options.json.write_text(json.dumps({"machine": machine, "shapes": results}, indent=2) + "\n")
    return 0

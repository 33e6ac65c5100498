"""What people are shown: a table for each shape, and ratios within rounds."""

import os
import platform
import subprocess

from .crawlers import DRAGLINE, DRAGLINE_TWO_CORES
from .places import ROOT


def machine():
    """What a figure depends on besides the program."""
    with open("/proc/cpuinfo") as info:
        model = next((line.split(":", 1)[1].strip() for line in info if line.startswith("model name")), platform.machine())
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    return {"cpu": model, "cores": os.cpu_count(), "load": round(os.getloadavg()[0], 1), "commit": commit}


def spread(values):
    """Returns the least, the median and the greatest."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    median = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    return ordered[0], median, ordered[-1]


def three(values, form):
    return " / ".join(format(value, form) for value in spread(values))


def line(crawl):
    """One crawl, as it ends."""
    missing = "" if crawl.is_whole else "  NOT ALL PAGES"
    if crawl.attempts > 1:
        missing += f"  at attempt {crawl.attempts}"
    return (
        f"  round {crawl.round}  {crawl.crawler:20} {crawl.pages:9,} pages  {crawl.wall_s:7.1f} s  {crawl.pages_per_s:7,.0f} pages/s  "
        f"{crawl.cpu_ms_per_page:6.3f} ms CPU a page  {crawl.peak_bytes / 2**20:6.0f} MiB  server busy {crawl.server_busy:4.0%}{missing}"
    )


def kinds(crawl):
    return ", ".join(f"{kind} {size / 1e6:.1f} MB" for kind, size in sorted(crawl.stored.items())) or "nothing"


def table(crawls):
    """Returns the lines of a shape's table: each crawler's figures as minimum / median / maximum of its rounds."""
    by_crawler = {}
    for crawl in crawls:
        by_crawler.setdefault(crawl.crawler, []).append(crawl)
    lines = [f"  {'':20} {'pages a second':>24} {'ms CPU a page':>24} {'MiB at most':>12}  stored"]
    for name, own in by_crawler.items():
        speed, cpu = three([crawl.pages_per_s for crawl in own], ",.0f"), three([crawl.cpu_ms_per_page for crawl in own], ".3f")
        peak = max(crawl.peak_bytes for crawl in own) / 2**20
        incomplete = "" if all(crawl.is_whole for crawl in own) else "  NOT ALL PAGES"
        again = sum(crawl.attempts - 1 for crawl in own)
        if again:
            incomplete += f"  {again} attempts ended early and were repeated"
        lines.append(f"  {name:20} {speed:>24} {cpu:>24} {peak:12.0f}  {kinds(own[-1])}{incomplete}")
    return lines


def ratios(crawls):
    """Returns Dragline's figures by those of each other crawler in the same round: the pages a second, and the CPU time a page."""
    by_round = {(crawl.crawler, crawl.round): crawl for crawl in crawls}
    found = {}
    for name in dict.fromkeys(crawl.crawler for crawl in crawls if crawl.crawler != DRAGLINE.name):
        pairs = [(by_round[DRAGLINE.name, number], other) for (who, number), other in by_round.items() if who == name]
        pairs = [(ours, other) for ours, other in pairs if ours.is_whole and other.is_whole]
        if name == DRAGLINE_TWO_CORES.name:
            pairs = [(two, one) for one, two in pairs]
        if pairs:
            found[name] = {
                "speed": spread([ours.pages_per_s / other.pages_per_s for ours, other in pairs]),
                "cpu": spread([ours.cpu_ms_per_page / other.cpu_ms_per_page for ours, other in pairs]),
            }
    return found


def ratio_lines(crawls):
    lines = []
    for name, ratio in ratios(crawls).items():
        what = "two cores : one" if name == DRAGLINE_TWO_CORES.name else f"dragline : {name}"
        speed, cpu = (" / ".join(f"{value:.2f}" for value in ratio[figure]) for figure in ("speed", "cpu"))
        lines.append(f"  {what:20} {speed:>24} {cpu:>24}")
    return lines

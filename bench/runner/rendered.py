"""Crawls of applications in a browser, Dragline's beside those of others, and what a long one holds: docs/measurements/rendering.md."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, dataclass

from . import report
from .app_sites import APPS, Synthetic, application
from .places import RELEASE, ROOT
from .tree import measure_tree

SYNTHETIC = "synthetic"

PAGES = 100
"""Of the synthetic application."""

MEBIBYTE = 2**20


@dataclass(frozen=True)
class Walker:
    """A program that visits all pages of an application."""

    name: str
    command: Callable
    """Returns its command, given the site's address and an empty directory."""
    codes: frozenset = frozenset({0})
    """The exit codes of a crawl that came to its end."""


@dataclass(frozen=True)
class Walk:
    """One crawl of an application."""

    walker: str
    round: int
    pages: int
    """How many pages were shown."""
    is_whole: bool
    wall_s: float
    cpu_s: float
    own_cpu_s: float
    """Without the browser's."""
    peak_bytes: int
    left: int
    """How many processes were left."""

    @property
    def pages_per_s(self):
        return self.pages / self.wall_s

    @property
    def cpu_s_per_page(self):
        return self.cpu_s / max(self.pages, 1)

    @property
    def own_cpu_s_per_page(self):
        return self.own_cpu_s / max(self.pages, 1)


def dragline():
    """The command: the optimised build, if there is one."""
    given = os.environ.get("DRAGLINE_BIN")
    program = pathlib.Path(given) if given else next((path for path in (RELEASE / "dragline", ROOT / "target/debug/dragline") if path.exists()), None)
    if not program:
        raise SystemExit("bench: there is no dragline. hint: make bench-build")
    return program


def crawl_command(program, url, directory, concurrency):
    return [program, "crawl", url, "--data", directory / "data", "--render", "always", "--delay", "0s", "--concurrency", str(concurrency), "--allow-private", "--quiet", "--json"]


def walkers(program):
    """All of them, in the order in which they take turns."""
    environment = subprocess.run([ROOT / "scripts/environment", "rendered-bench", ROOT / "bench/rendered/requirements.txt"], stdout=subprocess.PIPE, text=True, check=True)
    python = pathlib.Path(environment.stdout.strip()) / "bin/python"

    def crawl(concurrency):
        # Other URLs may have failed: some of the applications link to such.
        return Walker(f"dragline, {concurrency}", lambda url, directory: crawl_command(program, url, directory, concurrency), frozenset({0, 1}))

    def walk(name, tabs):
        return Walker(f"{name}, {tabs}", lambda url, _: [python, ROOT / f"bench/rendered/walk_{name}.py", url, str(tabs)])

    return [crawl(1), walk("playwright", 1), crawl(4), walk("playwright", 4), walk("crawlee", 4)]


def serve(name, pages=PAGES):
    return closing(Synthetic(pages) if name == SYNTHETIC else application(name))


def show(names, rounds, wanted, json_file):
    """Crawls the named applications with each walker in turn, round after round, and prints the tables."""
    names = names or [SYNTHETIC, "react"]
    if unknown := set(names) - {SYNTHETIC, *APPS}:
        raise SystemExit(f"bench: no such application: {', '.join(sorted(unknown))}. hint: {SYNTHETIC}, {', '.join(APPS)}")
    program = browser_ready()
    chosen = [walker for walker in walkers(program) if not wanted or walker.name.startswith(("dragline", *wanted.split(",")))]
    results = []
    for name in names:
        walks = []
        with serve(name) as site:
            print(f"\n{name}: {site.pages} pages", flush=True)
            for number in range(1, rounds + 1):
                for walker in chosen:
                    walks.append(walk(walker, site, number))
                    print(line(walks[-1]), flush=True)
        print("\n".join([*table(walks), *ratio_lines(walks)]), flush=True)
        results.append({"application": name, "walks": [asdict(done) for done in walks]})
    print("\nEach figure is minimum / median / maximum of the rounds; a ratio is of two crawls of one round.")
    if json_file:
        json_file.write_text(json.dumps({"machine": report.machine(), "program": str(program), "applications": results}, indent=2) + "\n")
    return 0


def browser_ready():
    """Returns the command, once there is a browser, and says what is measured."""
    subprocess.run([ROOT / "tests/browser_engine/run", "true"], check=True)
    program = dragline()
    print(", ".join(f"{name} {value}" for name, value in report.machine().items()))
    print(f"dragline: {program.resolve()}")
    return program


def walk(walker, site, number):
    """Visits an application once, in a directory of its own."""
    usage, pages = measured(walker, site)
    return Walk(walker.name, number, pages, pages >= site.pages, usage.wall_s, usage.cpu_s, usage.own_cpu_s, usage.peak_bytes, usage.left)


def measured(walker, site):
    directory = pathlib.Path(tempfile.mkdtemp(prefix="dragline-bench-"))
    try:
        site.shown()
        # In a directory of its own for temporary files it shares its host with no other crawl.
        environment = {**os.environ, "TMPDIR": str(directory), "XDG_RUNTIME_DIR": ""}
        usage = measure_tree(walker.command(site.url, directory), walker.codes, directory, environment)
        return usage, site.shown()
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def line(walk):
    missing = "" if walk.is_whole else "  NOT ALL PAGES"
    if walk.left:
        missing += f"  {walk.left} PROCESSES LEFT"
    return (
        f"  round {walk.round}  {walk.walker:14} {walk.pages:5,} pages  {walk.wall_s:6.1f} s  {walk.pages_per_s:6.2f} pages/s  {walk.cpu_s_per_page:6.3f} s CPU a page, "
        f"{walk.own_cpu_s_per_page:6.3f} of them its own  {walk.peak_bytes / MEBIBYTE:6.0f} MiB{missing}"
    )


def table(walks):
    lines = [f"  {'':14} {'pages a second':>22} {'s CPU a page':>24} {'of them its own':>24} {'MiB at most':>12}"]
    for name in dict.fromkeys(walk.walker for walk in walks):
        own = [walk for walk in walks if walk.walker == name]
        figures = [report.three([getattr(walk, figure) for walk in own], form) for figure, form in (("pages_per_s", ".2f"), ("cpu_s_per_page", ".3f"), ("own_cpu_s_per_page", ".3f"))]
        incomplete = "" if all(walk.is_whole for walk in own) else "  NOT ALL PAGES"
        lines.append(f"  {name:14} {figures[0]:>22} {figures[1]:>24} {figures[2]:>24} {max(walk.peak_bytes for walk in own) / MEBIBYTE:12.0f}{incomplete}")
    return lines


def ratio_lines(walks):
    """Dragline's figures by those of the others with as many pages at a time, in the same round."""
    by_round, lines = {(walk.walker, walk.round): walk for walk in walks if walk.is_whole}, []
    for name in dict.fromkeys(walk.walker for walk in walks if not walk.walker.startswith("dragline")):
        ours = f"dragline, {name.rpartition(' ')[2]}"
        pairs = [(by_round[ours, number], other) for (who, number), other in by_round.items() if who == name and (ours, number) in by_round]
        if pairs:
            speed, cpu, peak = (report.three([getattr(one, figure) / getattr(other, figure) for one, other in pairs], ".2f") for figure in ("pages_per_s", "cpu_s_per_page", "peak_bytes"))
            lines.append(f"  {ours} : {name:14}  pages a second {speed}, CPU a page {cpu}, memory {peak}")
    return lines


def show_many(pages):
    """Crawls this many pages, and prints what memory that took, and whether it grew. Fails if a page is missing, or a process is left."""
    program = browser_ready()
    walker = Walker("dragline", lambda url, directory: crawl_command(program, url, directory, 4))
    with serve(SYNTHETIC, pages) as site:
        usage, shown = measured(walker, site)
    samples = usage.samples
    fifth = max(len(samples) // 5, 1)
    second, last = (report.spread([bytes for _, bytes in part])[1] for part in (samples[fifth : 2 * fifth], samples[-fifth:]))
    print(f"{shown:,} pages: {usage.wall_s:.0f} s, {shown / usage.wall_s:.2f} pages/s, {usage.cpu_s / shown:.3f} s CPU a page, {usage.own_cpu_s / shown:.3f} of them its own")
    print(
        f"memory of all processes: median of the second fifth {second / MEBIBYTE:.0f} MiB, of the last {last / MEBIBYTE:.0f} MiB ({last / second:.2f}), at most {usage.peak_bytes / MEBIBYTE:.0f} MiB"
    )
    tenths = [samples[len(samples) * tenth // 10 : max(len(samples) * (tenth + 1) // 10, len(samples) * tenth // 10 + 1)] for tenth in range(10)]
    print(f"median of each tenth, in MiB: {', '.join(f'{report.spread([bytes for _, bytes in part])[1] / MEBIBYTE:.0f}' for part in tenths)}")
    print(f"processes left: {usage.left}")
    if shown < pages or usage.left:
        raise SystemExit("bench: pages are missing" if shown < pages else "bench: processes are left")
    return 0

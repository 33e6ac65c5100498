"""The instructions of a page: what a crawl costs, whatever the machine does beside it.

Valgrind counts them. Where it is not installed, the CPU time of a page is compared with that of a fixed calculation instead.
"""

import json
import os
import pathlib
import shutil
import tempfile
import time
import zlib

from . import callgrind
from .crawlers import DRAGLINE
from .measure import measure
from .places import ROOT, cores
from .server import Server
from .shapes import LARGE, Shape, generated
from .stages import REST, by_stage

RECORD = ROOT / "bench/instructions.json"
GROWTH_MAX = 1.25
"""How much more a page may cost than was recorded."""
SHRUNK = 0.9
"""Below this part of what was recorded, it is worth recording again: otherwise nobody notices when it grows back."""
PAGES = 501
CALIBRATED_PAGES, CALIBRATED_ROUNDS = 2_001, 5


def site(pages):
    return Shape(f"{pages}", f"{pages} pages", pages, generated(pages, *LARGE), 64)


def crawl_once(pages, server_binary, prefix=()):
    """Crawls a site on one core, with the command after a prefix, and returns what that used."""
    core, server_core = cores()
    directory = pathlib.Path(tempfile.mkdtemp(prefix="dragline-bench-"))
    shape = site(pages)
    try:
        with Server(shape.server, 1, server_core, server_binary) as server:
            commands = [[*prefix, *command] for command in DRAGLINE.commands(shape, server.urls, directory)]
            usage = measure(commands, DRAGLINE.codes, {core}, {**os.environ, "TOKIO_WORKER_THREADS": "1"})
            found = server.counts()["pages"]
            if found != pages:
                raise SystemExit(f"bench: the crawl got {found} of {pages} pages")
            return usage
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def profile(pages, server_binary):
    """Counts the instructions of a crawl."""
    with tempfile.TemporaryDirectory(prefix="dragline-bench-") as directory:
        file = pathlib.Path(directory) / "callgrind"
        # Names are not demangled, as those of generic functions' instances differ only while they
        # are mangled.
        crawl_once(pages, server_binary, ("valgrind", "--tool=callgrind", "--demangle=no", f"--callgrind-out-file={file}"))
        with open(file) as lines:
            return callgrind.read(lines)


def counted(server_binary):
    """Returns the instructions of each stage for one page more, and those of a crawl of one page."""
    first, many = profile(1, server_binary), profile(PAGES, server_binary)
    few, whole = by_stage(first), by_stage(many)
    return {stage: round((cost - few[stage]) / (PAGES - 1)) for stage, cost in whole.items()}, first.total


def calibrated(server_binary):
    """Returns the CPU time of a page as a multiple of that of a fixed calculation, each the least of some rounds."""
    pages, fixed = [], []
    for _ in range(CALIBRATED_ROUNDS):
        fixed.append(calculation_s())
        pages.append(crawl_once(CALIBRATED_PAGES, server_binary).cpu_s / CALIBRATED_PAGES)
    return min(pages) / min(fixed)


def calculation_s():
    """Returns the CPU time that it takes to compress a fixed text of a million bytes."""
    words, state = [], 1
    for _ in range(160_000):
        state = state * 1_103_515_245 + 12_345 & 0x7FFFFFFF
        words.append(f"{state >> 18:x} ")
    text = "".join(words).encode()[:1_000_000]
    began = time.process_time()
    zlib.compress(text, 6)
    return time.process_time() - began


def has_valgrind():
    return shutil.which("valgrind") is not None


def table(stages, recorded=None):
    """Returns lines that show the stages, beside what was recorded of them."""
    total = sum(stages.values())
    lines = [f"{'instructions a page':12}{'':>8}{'share':>8}{'recorded' if recorded else '':>14}"]
    for stage, cost in [*stages.items(), ("total", total)]:
        before = f"{recorded.get(stage, 0) if stage != 'total' else sum(recorded.values()):14,}" if recorded else ""
        nothing = "  nothing: does its pattern in bench/runner/stages.py still match?" if cost < 1 and stage != REST else ""
        lines.append(f"{stage:12}{cost:14,}{cost / total:8.1%}{before}{nothing}")
    return lines


def read():
    return json.loads(RECORD.read_text()) if RECORD.is_file() else {}


def show_stages(server_binary):
    """Prints the instructions of each stage."""
    if not has_valgrind():
        raise SystemExit("bench: valgrind is not installed, and nothing else counts instructions by stage. hint: apt-get install valgrind")
    stages, start = counted(server_binary)
    print("\n".join(table(stages, read().get("stages"))))
    print(f"A crawl of one page: {start:,} instructions.")
    return 0


def record(server_binary):
    """Records what a page costs now."""
    if not has_valgrind():
        raise SystemExit("bench: valgrind is not installed, and the record needs it. hint: apt-get install valgrind")
    stages, start = counted(server_binary)
    figures = {"stages": stages, "one_page": start, "calibrated": round(calibrated(server_binary), 5)}
    RECORD.write_text(json.dumps(figures, indent=2) + "\n")
    print("\n".join(table(stages)))
    return 0


def check(server_binary):
    """Compares what a page costs with the record. Returns the exit code."""
    before = read()
    if has_valgrind():
        unit, stages = "instructions a page", counted(server_binary)[0]
        now, then = sum(stages.values()), sum(before.get("stages", {}).values())
    else:
        print("bench: valgrind is not installed: comparing CPU times instead, which is less exact. hint: apt-get install valgrind")
        unit, stages = "of the calibration's CPU time a page", None
        now, then = calibrated(server_binary), before.get("calibrated", 0)
    if not then:
        raise SystemExit(f"bench: nothing is recorded to compare with: {RECORD}. hint: bench/run --record")
    print(verdict(now, then, unit))
    if now > then * GROWTH_MAX:
        if stages:
            print("\n".join(table(stages, before["stages"])))
        return 1
    return 0


def verdict(now, then, unit):
    """Returns what to say about a figure beside the recorded one."""
    form = ",.0f" if then >= 100 else ".5f"
    said = f"bench: {now:{form}} {unit}, {now / then:.3f} times the {then:{form}} recorded"
    if now > then * GROWTH_MAX:
        return f"{said}: more than {GROWTH_MAX}. hint: see which stage has grown (bench/run --stages); if it is worth it, bench/run --record, and commit bench/instructions.json"
    if now < then * SHRUNK:
        return f"{said}. hint: record the lower figure with bench/run --record, and commit bench/instructions.json"
    return said

"""The main part of pages of many kinds beside what people wrote down of them: shops, forums, lists, pages of services, articles and manuals.

The pages are those of the Web Content Extraction Benchmark (WCXB). As it defines, words are compared, each as often as it occurs, whatever their order and
case; and short runs of words that have to be in the text, or must not. trafilatura, if it is installed, is measured on the same pages.
"""

import collections
import concurrent.futures
import dataclasses
import gzip
import json
import pathlib
import re
import tempfile

from runner.judged import fallen, others, tell

SPLITS = ("dev", "test")
KINDS = ("article", "service", "product", "collection", "forum", "questions", "listing", "documentation")

QUESTIONS = re.compile(r'"@type"\s*:\s*"QAPage"|itemtype="https?://schema\.org/(?:QAPage|Question)"')
"""Says of a forum's page that it has a question and answers to it."""

PAGES_MAX = 40
"""Of each kind. Figures of so many pages of the first split are recorded."""


@dataclasses.dataclass(frozen=True)
class Page:
    name: str
    kind: str
    html: bytes
    main: str | None
    within: list
    """Runs of words that are in the main part."""
    beside: list
    """Runs of words that are on the page, and not in its main part."""


def page_of(truth):
    said = json.loads(truth.read_text())
    html = gzip.decompress((truth.parent.parent / "html" / f"{truth.stem}.html.gz").read_bytes())
    kind = said["_internal"]["page_type"]["primary"]
    if kind == "forum" and QUESTIONS.search(html.decode(errors="replace")):
        kind = "questions"
    main = said["ground_truth"]
    return Page(truth.stem, kind, html, main.get("main_content"), main.get("with") or [], main.get("without") or [])


def pages_of(directory, split, pages_max):
    """Of each kind, some pages, the same in each run, and spread over all of them."""
    pages = collections.defaultdict(list)
    for truth in sorted((directory / split / "ground-truth").glob("*.json")):
        page = page_of(truth)
        # Of a few, nobody wrote down the main part.
        if page.main is not None:
            pages[page.kind].append(page)
    return {kind: spread(pages[kind], pages_max) for kind in KINDS if pages[kind]}


def spread(pages, pages_max):
    count = min(len(pages), pages_max)
    return [pages[at * len(pages) // count] for at in range(count)]


def words(text):
    return collections.Counter(re.findall(r"\w+", text.lower()))


def in_one_line(text):
    return " ".join(text.lower().split())


def compared(text, page):
    """F1, precision and recall of a text, the shares of runs that are in it as they should, and that are not."""
    said, wanted = words(text), words(page.main)
    both = (said & wanted).total()
    precision = both / said.total() if said else float(not wanted)
    recall = both / wanted.total() if wanted else float(not said)
    f1 = 2 * precision * recall / (precision + recall) if both else float(not said and not wanted)
    text = in_one_line(text)
    share = lambda runs: sum(in_one_line(run) in text for run in runs) / len(runs) if runs else None
    beside = share(page.beside)
    return {"f1": f1, "precision": precision, "recall": recall, "within": share(page.within), "without": None if beside is None else 1 - beside}


def figures(pages, texts):
    """Means over pages, and how many of them are below half. Pages with no runs of words do not count for those."""
    each = [compared(text, page) for page, text in zip(pages, texts)]
    means = {}
    for name in ("f1", "precision", "recall", "within", "without"):
        values = [one[name] for one in each if one[name] is not None]
        means[name] = sum(values) / len(values) if values else 1.0
    return means | {"below_half": sum(one["recall"] < 0.5 for one in each)}


def texts_of(pages, extracted):
    """What is taken of pages, and how long each took in milliseconds."""
    with tempfile.TemporaryDirectory() as unpacked:
        files = [pathlib.Path(unpacked) / f"{page.name}.html" for page in pages]
        for file, page in zip(files, pages):
            file.write_bytes(page.html)
        return extracted("articles", "https://example.org/a/page.html", files)


def judge(directory, split, pages_max, extracted, record):
    """Prints a row for each kind. Returns whether no recorded figure fell."""
    is_recorded = split == SPLITS[0] and pages_max == PAGES_MAX
    recorded = json.loads(record.read_text()) if is_recorded else {}
    pages = pages_of(directory, split, pages_max)
    every = [page for kind in pages for page in pages[kind]]
    found = dict(zip((page.name for page in every), texts_of(every, extracted)))
    theirs, other = {}, others()
    if other:
        with concurrent.futures.ProcessPoolExecutor() as pool:
            texts = pool.map(other[1], [page.html.decode(errors="replace") for page in every], chunksize=8)
            theirs = dict(zip((page.name for page in every), texts))
    fell = []
    for kind, some in [*pages.items(), ("all", every)]:
        ours = figures(some, [found[page.name].get("article", {}).get("text", "") for page in some])
        print(f"{kind:<13} {len(some):>4} pages  " + shown(ours))
        if other:
            print(f"{other[0]:>24}  " + shown(figures(some, [theirs[page.name] for page in some])))
        fell += fallen(kind, ours, recorded)
    return tell(fell)


def shown(figures):
    return "F1 {f1:.3f} precision {precision:.3f} recall {recall:.3f} with {within:.3f} without {without:.3f} below half {below_half}".format(**figures)

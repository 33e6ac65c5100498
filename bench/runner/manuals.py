"""The main part of manuals' pages beside the element that the manual's own template puts the content in.

The manuals are Debian's, made by many generators. Runs of four words are compared, and code blocks: one is kept if all of it is in the text, but for
white space. trafilatura, if it is installed, is measured on the same pages.
"""

import collections
import dataclasses
import html.parser
import json
import pathlib
import random
import re

from runner.judged import fallen, others, tell
from runner.pdfs import fetch

PAGES_MAX = 40
PAGE_BYTES_MAX = 900_000
WORDS_MIN = 120
"""Pages with fewer words are indices and the like, of which a few words more or less say nothing."""

BREAKS = frozenset("address article aside blockquote br caption dd details div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6 header hr li main ol p pre section summary table td th tr ul".split())
UNSEEN = frozenset("script style noscript template".split())
VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())


@dataclasses.dataclass(frozen=True)
class Manual:
    package: str
    pages: str
    content: tuple
    """What begins the content: the element's name, an attribute, and values of that, one of which is among its words."""
    without: tuple = ()
    """What in it is no content: an attribute, and values of that."""


# By their generators. The last is written by hand.
MANUALS = {
    "Sphinx": Manual("python3.11-doc", "usr/share/doc/python3.11/html/**/*.html", ("div", "role", ["main"])),
    "DocBook": Manual("postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html/*.html", ("div", "class", ["sect1", "chapter", "refentry", "appendix", "preface", "part"])),
    "AsciiDoc": Manual("git-doc", "usr/share/doc/git-doc/*.html", ("div", "id", ["header", "content"])),
    "Publican": Manual("debian-handbook", "usr/share/doc/debian-handbook/html/en-US/*.html", ("div", "class", ["section", "chapter", "preface", "appendix"])),
    "Haddock": Manual("ghc-doc", "usr/share/doc/ghc-doc/html/libraries/*/*.html", ("div", "id", ["content"])),
    "Doxygen": Manual("libeigen3-doc", "usr/share/doc/libeigen3-dev/html/*.html", ("div", "class", ["contents"])),
    "GTK-Doc": Manual("libglib2.0-doc", "usr/share/gtk-doc/html/glib/*.html", ("div", "class", ["refentry", "chapter", "part"])),
    "Javadoc": Manual("libjsoup-java-doc", "usr/share/doc/libjsoup-java/api/org/**/*.html", ("main", None, [])),
    "Texinfo": Manual("octave-doc", "usr/share/doc/octave/octave.html/*.html", ("div", "class", ["chapter", "section", "subsection", "appendix"]), ("class", ["header", "nav-panel"])),
    "MkDocs": Manual("mkdocs-doc", "usr/share/doc/mkdocs/html/**/*.html", ("div", "role", ["main"])),
    "Node.js": Manual("nodejs-doc", "usr/share/doc/nodejs/api/*.html", ("div", "id", ["apicontent"])),
    "Apache": Manual("apache2-doc", "usr/share/doc/apache2-doc/manual/en/**/*.html", ("div", "id", ["page-content"]), ("class", ["toplang", "bottomlang"])),
}


class Content(html.parser.HTMLParser):
    """The text and the code blocks of a page's content. Elements end by the end tags of their own name, which holds whatever else is left open."""

    def __init__(self, manual):
        super().__init__(convert_charrefs=True)
        self.manual = manual
        self.pieces, self.codes = [], []
        self.inside, self.left_out, self.unseen, self.code = None, None, 0, None

    def handle_starttag(self, tag, attrs):
        attrs = {name: value or "" for name, value in attrs}
        name, attribute, values = self.manual.content
        if self.inside is None:
            if tag == name and (attribute is None or set(values) & set(attrs.get(attribute, "").split())):
                self.inside = [tag, 1]
            return
        self.inside[1] += tag == self.inside[0]
        if self.left_out is None:
            attribute, values = self.manual.without or (None, ())
            if attribute and tag not in VOID and set(values) & set(attrs.get(attribute, "").split()):
                self.left_out = [tag, 1]
        else:
            self.left_out[1] += tag == self.left_out[0]
        self.unseen += tag in UNSEEN
        self.pieces.append("\n" if tag in BREAKS else "")
        if tag == "pre" and self.left_out is None:
            self.code = []

    def handle_endtag(self, tag):
        if self.inside is None:
            return
        self.unseen -= tag in UNSEEN and self.unseen > 0
        self.pieces.append("\n" if tag in BREAKS else "")
        if tag == "pre" and self.code is not None:
            self.codes.append("".join(self.code))
            self.code = None
        for state in ("left_out", "inside"):
            open_element = getattr(self, state)
            if open_element and tag == open_element[0]:
                open_element[1] -= 1
                if not open_element[1]:
                    setattr(self, state, None)

    def handle_data(self, data):
        if self.inside is not None and self.left_out is None and not self.unseen:
            self.pieces.append(data)
            if self.code is not None:
                self.code.append(data)


def without_invisible(text):
    return re.sub("[\u00ad\u200b\u2060\ufeff]", "", text)


def squashed(text):
    return re.sub(r"\s+", "", without_invisible(text))


def read(page):
    head = page[:1500].lower()
    return page.decode("latin-1" if b"iso-8859-1" in head else "utf-8", errors="replace")


def pages_of(manual, directory):
    """Some pages, the same in each run, each with the text and the code of its content."""
    files = sorted(path for path in fetch(directory, manual.package).glob(manual.pages) if not path.is_symlink() and path.stat().st_size < PAGE_BYTES_MAX)
    random.Random(7).shuffle(files)
    chosen = []
    for path in files:
        content = Content(manual)
        content.feed(read(path.read_bytes()))
        text = "".join(content.pieces)
        if len(re.findall(r"\w+", text)) >= WORDS_MIN:
            chosen.append((path, text, [code for code in content.codes if code.strip()]))
        if len(chosen) == PAGES_MAX:
            break
    return chosen


def figures(pages, texts, shingles):
    """Means of recall and precision over pages, the share of code blocks that are kept, and how many pages are below half."""
    recalls, precisions, kept, codes = [], [], 0, 0
    for (_, expected, blocks), text in zip(pages, texts):
        said, wanted = shingles(without_invisible(text)), shingles(without_invisible(expected))
        both = (said & wanted).total()
        recalls.append(both / wanted.total())
        precisions.append(both / said.total() if said else 1.0)
        whole = squashed(text)
        kept += sum(squashed(block) in whole for block in blocks)
        codes += len(blocks)
    mean = lambda values: sum(values) / len(values)
    return {"recall": mean(recalls), "precision": mean(precisions), "code": kept / codes if codes else 1.0, "below_half": sum(recall < 0.5 for recall in recalls)}


def judge(directory, extracted, shingles, record, names):
    """Prints a row for each manual. Returns whether no recorded figure fell."""
    directory.mkdir(parents=True, exist_ok=True)
    recorded = json.loads(record.read_text()) if record.exists() else {}
    other = others()
    fell = []
    for generator in names:
        pages = pages_of(MANUALS[generator], directory)
        found = extracted("articles", "https://example.org/manual/page.html", [path for path, _, _ in pages])
        ours = figures(pages, [one.get("article", {}).get("text", "") for one in found], shingles)
        row = f"{generator:<10} {len(pages):>3} pages  " + shown(ours)
        if other:
            row += f"   {other[0]} " + shown(figures(pages, [other[1](read(path.read_bytes())) for path, _, _ in pages], shingles))
        print(row, flush=True)
        fell += fallen(generator, ours, recorded)
    return tell(fell)


def shown(figures):
    return "recall {recall:.3f} precision {precision:.3f} code {code:.3f} below half {below_half}".format(**figures)

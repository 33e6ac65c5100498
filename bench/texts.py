#!/usr/bin/env python3
"""Writes a site of many pages with real words, to measure the word index on: paragraphs of other pages in new combinations.

    bench/texts.py PAGES FOLDER HTML...

FOLDER gets PAGES pages in folders of a thousand, each with a title, two headings, some 2.5 kB of text and links to others, the same for the same
arguments. HTML are folders with the pages whose paragraphs are used, such as the manuals of Python and PostgreSQL (`scripts/fetch-sites`).
"""

import html
import random
import re
import sys
from pathlib import Path

TEXT_CHARS = 2_500
LINKS = 15


def paragraphs(folders: list[Path]) -> list[str]:
    """Returns the paragraphs in the pages below these folders that have more than a few words."""
    found = []
    for page in sorted(page for folder in folders for page in folder.rglob("*.html")):
        source = page.read_text(encoding="utf-8", errors="replace")
        for paragraph in re.findall(r"<p>(.*?)</p>", source, re.DOTALL):
            text = " ".join(html.unescape(re.sub(r"<[^>]*>", "", paragraph)).split())
            if text.count(" ") > 8:
                found.append(text)
    return found


def path_of(number: int) -> str:
    """Returns the path of a page."""
    return f"{number // 1000}/{number}.html"


def page(number: int, pages: int, texts: list[str], chance: random.Random) -> str:
    """Returns a page."""
    body, length = [], 0
    while length < TEXT_CHARS:
        text = chance.choice(texts)
        body.append(f"<p>{html.escape(text)}</p>")
        length += len(text)
    words = chance.choice(texts).split()
    title, heading, other = " ".join(words[:4]), " ".join(words[4:8]), " ".join(chance.choice(texts).split()[:3])
    targets = [number + 1, number * 7 + 3, *(chance.randrange(pages) for _ in range(LINKS - 2))]
    links = "".join(
        f'<li><a href="/{path_of(target % pages)}">{html.escape(" ".join(chance.choice(texts).split()[:3]))}</a></li>' for target in targets
    )
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title></head>'
        f"<body><h1>{html.escape(heading)}</h1>{''.join(body)}<h2>{html.escape(other)}</h2><ul>{links}</ul></body></html>"
    )


def main() -> None:
    """Writes the site."""
    pages, folder = int(sys.argv[1]), Path(sys.argv[2])
    texts = paragraphs([Path(source) for source in sys.argv[3:]])
    chance = random.Random(1)
    for number in range(pages):
        file = folder / path_of(number)
        if number % 1000 == 0:
            file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(page(number, pages, texts, chance), encoding="utf-8")
    (folder / "index.html").write_text(f'<a href="/{path_of(0)}">the first page</a>', encoding="utf-8")


if __name__ == "__main__":
    main()

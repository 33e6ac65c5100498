"""The truth about each application is what its sources say, and none of it is in what the server sends, where it should not be."""

from __future__ import annotations

import html.parser
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from site_of_apps import APPS, ARTICLES, SECRET, Site
from truth import Truth

Sites = Callable[[str], Site]
Truths = Callable[[str], Truth]

COLOURS = ["Amber", "Black", "Crimson", "Green", "Grey", "Ivory", "Orange", "White"]

TITLES = {
    # Each page's title, by its path.
    "react": {
        "/": "Machines that dig",
        "/items": "Machines, page 1",
        "/items?page=2": "Machines, page 2",
        "/items?page=3": "Machines, page 3",
        "/gallery": "Gallery",
        "/about": "About us",
        "/broken": "Out of order",
        "/nowhere": "Not found",
        **{f"/items/{number}": f"{colour} bulldozer" for number, colour in enumerate(COLOURS, 1)},
        **{f"/items/{number}": f"{colour} dragline" for number, colour in enumerate(COLOURS, 9)},
        **{f"/items/{number}": f"{colour} excavator" for number, colour in enumerate(COLOURS, 17)},
    },
    "vue": {
        "/": "Logbook",
        "/entries": "All entries",
        "/status": "Status",
        "/imprint": "Imprint",
        "/contact": "Contact",
        **{f"/entries/{number}": f"Shift {number}" for number in range(1, 101)},
    },
    "svelte": {
        "/": "The Digger",
        "/about": "About the magazine",
        "/topics/ropes": "About ropes",
        "/topics/winches": "About winches",
        "/topics/engines": "About engines",
        "/articles/how-to-choose-ropes": "How to choose ropes – The Digger",
        "/articles/how-to-choose-winches": "How to choose winches – The Digger",
        "/articles/how-to-choose-engines": "How to choose engines – The Digger",
        "/articles/when-to-replace-ropes": "When to replace ropes – The Digger",
        "/articles/when-to-replace-winches": "When to replace winches – The Digger",
        "/articles/when-to-replace-engines": "When to replace engines – The Digger",
        "/articles/what-is-new-in-ropes": "What is new in ropes – The Digger",
        "/articles/what-is-new-in-winches": "What is new in winches – The Digger",
        "/articles/what-is-new-in-engines": "What is new in engines – The Digger",
        "/articles/the-history-of-ropes": "The history of ropes – The Digger",
        "/articles/the-history-of-winches": "The history of winches – The Digger",
        "/articles/the-history-of-engines": "The history of engines – The Digger",
    },
    "docs": {
        "/": "The dragline – Manual",
        "/install.html": "Setting up – Manual",
        "/first-steps.html": "First steps – Manual",
        "/ropes.html": "Ropes – Manual",
        "/winches.html": "Winches – Manual",
        "/engines.html": "Engines – Manual",
        "/winter.html": "Winter – Manual",
        "/faq.html": "Questions – Manual",
        "/search.html": "Search – Manual",
        "/search.html?q=rope": "Search: rope – Manual",
        "/search.html?q=zebra": "Search: zebra – Manual",
    },
}

PAGES = {"react": 32, "vue": 105, "svelte": 17, "docs": 11}

TEXTS = [
    # What a page says, word for word.
    ("react", "/nowhere", "Home Machines Gallery About Not found There is no such page."),
    ("react", "/broken", "Home Machines Gallery About Out of order The list of repairs cannot be read: status 500. Back to the start"),
    ("react", "/about", "Home Machines Gallery About About us We have built machines for a hundred years. How many we have sold is not for you."),
    (
        "react",
        "/items/9",
        "Home Machines Gallery About Amber dragline The amber dragline moves 99 tons of earth in an hour, needs a crew of 2, and has been at work "
        "in the pit since 1969 without a single long repair. It weighs 103 tons. All machines",
    ),
    ("vue", "/status", "Home | Entries | Status | Imprint Status The machine is at work. Only the crew is told the load."),
    ("vue", "/entries", f"Home | Entries | Status | Imprint All entries {' '.join(f'Shift {number}' for number in range(1, 101))}"),
    (
        "vue",
        "/entries/70",
        "Home | Entries | Status | Imprint Shift 70 In shift 70 we dug 510 tons from bench 0, changed a rope after 4 hours, and handed the machine over "
        "clean, with 30 litres of oil left in the tank and nothing else to report. Written by Grace. All entries",
    ),
    (
        "svelte",
        "/topics/ropes",
        "The Digger, a magazine about machines. About About ropes How to choose ropes When to replace ropes What is new in ropes The history of ropes "
        "Topics: ropes winches engines Our sponsor pays for the ink.",
    ),
    (
        "docs",
        "/search.html?q=rope",
        "Manual Setting up Questions Search Search Search These pages say something about rope: Questions First steps The dragline Ropes "
        "What others look for is not known. A manual for those who work with a dragline. Prices",
    ),
]

PRIVATE = {"react": "/private/notes", "vue": "/private/wages", "svelte": "/private/drafts", "docs": "/private/prices.html"}
"""What each application links to, and no crawler may ask for."""


def of(truth: Truth, site: Site) -> dict[str, str]:
    """The titles, by path."""
    return {path_of(site, url): page["title"] for url, page in truth.items()}


def path_of(site: Site, url: str) -> str:
    return "/" + url.removeprefix(site.url)


def sent(site: Site, path: str) -> str:
    """The page that the server sends."""
    with urllib.request.urlopen(site.url + path[1:], timeout=60) as answer:
        return answer.read().decode()


class Words(html.parser.HTMLParser):
    """The words in the body of a page that has no scripts in it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self._text = ""
        self.feed(page.partition("<body>")[2])
        self.words = self._text.split()

    def handle_data(self, data: str) -> None:
        self._text += data


@pytest.mark.parametrize("app", APPS)
def test_all_pages_are_found_with_their_titles(site: Sites, truth: Truths, app: str) -> None:
    assert of(truth(app), site(app)) == TITLES[app]
    assert len(truth(app)) == PAGES[app]


@pytest.mark.parametrize(("app", "path", "text"), TEXTS)
def test_pages_say_what_is_written_here(site: Sites, truth: Truths, app: str, path: str, text: str) -> None:
    assert " ".join(truth(app)[site(app).url + path[1:]]["text"].split()) == text


@pytest.mark.parametrize("app", APPS)
def test_no_page_is_unfinished(truth: Truths, app: str) -> None:
    for url, page in truth(app).items():
        assert "Loading" not in page["text"] and "JavaScript" not in page["text"] and len(page["text"].split()) > 8, (url, page)


@pytest.mark.parametrize("app", APPS)
def test_nothing_private_is_asked_for_though_it_is_linked_and_there(site: Sites, truth: Truths, app: str) -> None:
    private = site(app).url + PRIVATE[app][1:]
    assert any(private in page["links"] for page in truth(app).values())
    assert not any(SECRET in page["text"] for page in truth(app).values())
    assert not [path for path in site(app).paths() if path.startswith("/private/")]
    assert SECRET in Site.answer(site(app), "/private/data.json").body.decode()


@pytest.mark.parametrize("app", ["react", "vue", "svelte"])
def test_one_page_is_sent_for_all_routes_and_it_says_next_to_nothing(site: Sites, app: str) -> None:
    shell = sent(site(app), "/")
    assert {sent(site(app), path) for path in ["/items/1", "/entries/1", "/articles/how-to-choose-ropes", "/there/is?no=such"]} == {shell}
    assert len(Words(shell).words) < 20


def test_pages_of_the_manual_are_whole_as_they_are_sent(site: Sites, truth: Truths) -> None:
    for url, page in truth("docs").items():
        path = path_of(site("docs"), url)
        is_whole = Words(sent(site("docs"), path)).words == page["text"].split()
        assert is_whole == (not path.startswith("/search.html")), path


def test_a_list_has_all_links_that_came_into_view(site: Sites, truth: Truths) -> None:
    home = site("vue").url
    links = truth("vue")[f"{home}entries"]["links"]
    assert links == {home, f"{home}status", f"{home}imprint", f"{home}entries", *(f"{home}entries/{number}" for number in range(1, 101))}
    home = site("react").url
    gallery = truth("react")[f"{home}gallery"]
    frame = {home, f"{home}items", f"{home}gallery", f"{home}about"}
    assert gallery["links"] == frame | {f"{home}items/{number}" for number in range(2, 25, 2)}
    assert gallery["text"].count("Seen at work") == 12


def test_what_pages_ask_of_crawlers_is_read_after_their_scripts(site: Sites, truth: Truths) -> None:
    asking = {path_of(site("vue"), url): page["robots"] for url, page in truth("vue").items() if page["robots"]}
    assert asking == {"/imprint": "noindex"}
    sponsored = f"{site('svelte').url}sponsored"
    assert all(sponsored in page["links"] and page["unfollowed"] == {sponsored} for page in truth("svelte").values())
    assert sponsored not in truth("svelte") and "/sponsored" not in site("svelte").paths()
    assert "nofollow" not in sent(site("svelte"), "/"), "its scripts add it"


def test_scripts_say_in_the_head_what_a_page_is(site: Sites, truth: Truths) -> None:
    home = site("react").url
    page = truth("react")[f"{home}items/24"]
    assert page["canonical"] == f"{home}items/24"
    assert page["description"] == (
        "The white excavator moves 264 tons of earth in an hour, needs a crew of 2, and has been at work in the pit since 1984 without a single long repair."
    )
    assert truth("svelte")[f"{site('svelte').url}articles/how-to-choose-ropes"]["description"] == ARTICLES["how-to-choose-ropes"]["paragraphs"][0]


def test_the_site_answers_as_such_sites_do(site: Sites) -> None:
    for app, target, status, media_type in [
        ("react", "/api/items?page=3", 200, "application/json"),
        ("react", "/api/items/25", 404, "application/json"),
        ("react", "/api/items/²", 404, "application/json"),
        ("react", "/api/broken", 500, "application/json"),
        ("react", "/api/none", 404, "application/json"),
        ("react", "/pictures/2.gif", 200, "image/gif"),
        ("react", "/favicon.ico", 404, "text/html; charset=utf-8"),
        ("react", "/assets/none.js", 404, "text/html; charset=utf-8"),
        ("react", "/../docs/index.html", 404, "text/html; charset=utf-8"),
        ("docs", "/none", 404, "text/html; charset=utf-8"),
        ("docs", "/search-index.json", 200, "application/json"),
    ]:
        response = site(app).answer(target)
        assert (response.status, response.media_type) == (status, media_type), (app, target)
    bundle = next((site("react").files / "assets").glob("main-*.js"))
    assert "max-age=31536000" in site("react").answer(f"/assets/{bundle.name}").cache_control


def test_the_site_notes_what_it_is_asked_for(apps: Path) -> None:
    other = Site(apps, "docs")
    with urllib.request.urlopen(urllib.request.Request(f"{other.url}?a=b", method="HEAD", headers={"X-Mark": "1"}), timeout=60) as answer:
        assert answer.read() == b""
    other.close()
    (request,) = other.requests
    assert (request.method, request.path, request.headers["x-mark"]) == ("HEAD", "/?a=b", "1") and request.at > 0
    assert other.paths() == ["/"]

"""A site that was crawled several times, in ReplayWeb.page: each page as it was on each day, whatever was said about what did not change."""

import daily_site
import pytest
from chromium import PATIENCE_SECONDS
from conftest import DAYS
from daily_site import PAGES
from selenium.webdriver.support.ui import WebDriverWait

LOOK = """
const within = (root) => {
    for (const each of root.querySelectorAll('*')) {
        if (each.localName === 'iframe' && each.name === '___wb_replay_top_frame') return each;
        const found = each.shadowRoot && within(each.shadowRoot);
        if (found) return found;
    }
};
const frame = within(document);
const page = frame?.contentDocument;
if (!page?.location.pathname.includes('mp_/') || page.readyState !== 'complete') return null;
"""
"""Finds the page that the player shows; returns null until it is there."""

SHOWN = f"""{LOOK}
const name = (url) => '/' + url.split('/').pop();
const pictures = [...page.images].map((each) => [name(each.src), [each.naturalWidth, each.naturalHeight]]);
const paragraph = page.querySelector('p');
const style = paragraph && page.defaultView.getComputedStyle(paragraph);
return {{
    status: page.defaultView.performance.getEntriesByType('navigation')[0].responseStatus,
    title: page.title,
    text: paragraph && paragraph.textContent,
    pictures: Object.fromEntries(pictures),
    colour: style && style.color,
    width: style && style.width,
}};
"""

BACKGROUND = f"""const answer = arguments[0];
const look = () => {{ {LOOK} return page; }};
const page = look();
const named = page.defaultView.getComputedStyle(page.body).backgroundImage;
const picture = new page.defaultView.Image();
picture.onload = () => answer([picture.naturalWidth, picture.naturalHeight]);
picture.onerror = () => answer(`it cannot be shown: ${{named}}`);
picture.src = named.replace(/^url\\("|"\\)$/g, '');
"""
"""The size of the picture that the style sheet names."""


@pytest.fixture
def replay(archive, browser, reader):
    """Opens a page as it was on a day, or the newest, and says what is seen and how large the picture is that the style sheet names."""

    def replay(path, day):
        browser.get("about:blank")  # or else only the fragment would change, and nothing be opened
        browser.get(archive.address(path, day, reader))
        patience = WebDriverWait(browser, PATIENCE_SECONDS)
        shown = patience.until(lambda _: browser.execute_script(SHOWN), f"the player shows no page at {browser.current_url}")
        return shown, browser.execute_async_script(BACKGROUND)

    return replay


def expected(path, day, chart):
    return {
        "status": 200,
        "title": path,
        "text": daily_site.text(path, day),
        "pictures": daily_site.pictures(chart),
        "colour": daily_site.COLOUR,
        "width": daily_site.WIDTH,
    }


def test_the_server_said_on_later_days_that_nothing_is_new(archive):
    statuses = {(day, path): status for day, path, status in archive.answers}
    for path in ["/", "/still", "/dot.png", "/twin.png", "/paper.png", "/style.css", "/more.css"]:
        assert [statuses[day, path] for day in DAYS] == [200, 304, 304], path
    assert [statuses[day, "/once"] for day in DAYS] == [200, 200, 304]
    assert [statuses[day, "/news"] for day in DAYS] == [200, 200, 200]


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("day", [None, *DAYS])
def test_a_page_is_shown_as_it_was(archive, replay, path, day):
    shown, background = replay(path, day)
    assert shown == expected(path, day or DAYS[-1], archive.chart(path, day))
    assert background == daily_site.PAPER


def test_a_page_that_was_seen_before_is_shown_again(replay):
    for charts in [DAYS[-1:], DAYS]:
        shown, background = replay("/", None)
        # What did not change, the player now takes for the answer that had the body, and shows
        # pictures as they were then.
        assert shown in [expected("/", DAYS[-1], chart) for chart in charts]
        assert background == daily_site.PAPER

"""The page of `dragline serve`, in a browser. The tests go on where the ones before them ended."""

import os
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import pytest
from axe_core_python.selenium import Axe
from chromium import PATIENCE_SECONDS
from conftest import HOSTILE
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

SHOTS = os.environ.get("DRAGLINE_SHOTS")
"""A folder for pictures of each view, for looking at them."""


def wait(driver, condition):
    return WebDriverWait(driver, PATIENCE_SECONDS, poll_frequency=0.05).until(condition)


def text(driver):
    return driver.find_element(By.TAG_NAME, "main").text


def click(driver, words):
    """Presses a button or a link, and waits for the view that follows."""
    main = driver.find_element(By.TAG_NAME, "main")
    quoted = f'"{words}"'
    element = driver.find_element(By.XPATH, f"//button[starts-with(normalize-space(), {quoted})] | //a[normalize-space()={quoted}]")
    element.click()
    wait(driver, lambda _: is_gone(main) and driver.execute_script("return document.readyState") == "complete")


def is_gone(element):
    try:
        element.is_enabled()
    except Exception:  # noqa: BLE001 (which one depends on how far the browser is)
        return True
    return False


def fill(driver, **fields):
    for name, value in fields.items():
        field = driver.find_element(By.ID, name)
        field.clear()
        field.send_keys(value)


def wait_until_over(driver, iteration):
    """Waits without loading the page again: it does so by itself."""
    heading = f"//h2[@id='iteration'][normalize-space()='Iteration {iteration}']/following-sibling::span[normalize-space()='over']"
    wait(driver, lambda _: driver.find_elements(By.XPATH, heading))


def quote(url):
    return urllib.parse.quote(url, safe="")


def test_the_first_view_says_what_to_do(server, look):
    driver = look()
    driver.get(f"{server}/")
    assert driver.title == "Crawls – Dragline"
    assert "There is no crawl yet" in text(driver)
    click(driver, "Add a crawl")
    assert driver.current_url == f"{server}/add"


def test_mistakes_are_at_their_fields(server, look):
    driver = look()
    driver.get(f"{server}/add")
    fill(driver, seeds="ftp://a.example/", pages="many", delay="5", cron="daily", zone="Bonn")
    click(driver, "Preview")
    wrong = {each.get_attribute("id") for each in driver.find_elements(By.CSS_SELECTOR, "[aria-invalid]")}
    assert wrong == {"seeds", "pages", "delay", "cron"}
    assert driver.find_element(By.ID, "pages").get_attribute("value") == "many", "what was entered is still there"
    for field in wrong:
        described = driver.find_element(By.ID, field).get_attribute("aria-describedby").split()
        assert any(driver.find_element(By.ID, each).find_elements(By.CLASS_NAME, "mistake") for each in described), field


def test_a_crawl_is_explained_added_and_run(server, site, asked, gate, look):
    driver = look()
    driver.get(f"{server}/add")
    fill(driver, seeds=f"{site}/", name="manual", pages="100", delay="200ms", cron="0 3 * * *", zone="Europe/Berlin")
    click(driver, "Preview")
    words = text(driver)
    assert f"links to {site.removeprefix('http://')}, with or without www, by http or https, and to no other host" in words
    assert "or after 100 pages" in words and "200 milliseconds between requests" in words
    assert 'cron: "0 3 * * *"' in words and len(driver.find_elements(By.CSS_SELECTOR, "main time")) == 3
    assert asked == [], "nothing has been requested"
    shoot(driver, "preview")
    # Its end would load the page again, without the message.
    gate.clear()
    click(driver, "Add and run now")
    assert "An iteration has begun" in text(driver)
    shoot(driver, "running")
    gate.set()
    wait_until_over(driver, 1)
    assert "done" not in driver.current_url
    assert driver.find_element(By.CSS_SELECTOR, "[data-live=crawled]").text == "12"
    driver.get(f"{server}/")
    assert "12 visited" in text(driver) and "Europe/Berlin" in text(driver)


def test_the_schedule_and_an_iteration_are_paused_and_go_on(server, edition, gate, look):
    driver = look()
    edition(2)
    driver.get(f"{server}/")
    click(driver, "Pause schedule")
    assert "its schedule is paused" in text(driver)
    click(driver, "Resume schedule")
    assert "The schedule is followed" in text(driver)
    # The iteration cannot end before it is paused.
    gate.clear()
    click(driver, "Run now")
    click(driver, "Pause")
    assert "is paused" in text(driver)
    shoot(driver, "paused")
    driver.get(f"{server}/view/manual")
    click(driver, "Resume")
    gate.set()
    wait_until_over(driver, 2)


def test_results_are_filtered_and_followed(server, site, look):
    driver = look()
    driver.get(f"{server}/view/manual/pages")
    assert all(title in text(driver) for title in HOSTILE[:4]), "titles are shown as they are"
    assert "\\u{202e}" in text(driver) and "\u202e" not in text(driver), "what would turn the text round is named"
    fill(driver, url=f"{site}/manual", iteration="1")
    click(driver, "Show")
    assert len(driver.find_elements(By.CSS_SELECTOR, "tbody tr")) == 1
    fill(driver, iteration="x")
    click(driver, "Show")
    assert driver.find_element(By.ID, "iteration").get_attribute("aria-invalid") == "true"
    driver.get(f"{server}/view/manual/items")
    assert "structured data" in text(driver)
    driver.get(f"{server}/view/manual/log?iteration=1")
    assert "file not found" in text(driver)


def test_a_page_is_shown_as_it_was(server, site, asked, look):
    driver = look()
    del asked[:]
    driver.get(f"{server}/view/manual/page?iteration=1&url={quote(site + '/manual')}")
    assert "The bucket holds 40 tons" in text(driver), "its text"
    assert "The body was parsed into a document" in text(driver), "what became of it"
    assert f"{site}/" in driver.find_element(By.ID, "in").find_element(By.XPATH, "..").text, "who links to it"
    shoot(driver, "page")
    driver.switch_to.frame(driver.find_element(By.TAG_NAME, "iframe"))
    wait(driver, lambda _: "40 tons" in driver.find_element(By.TAG_NAME, "body").text)
    driver.switch_to.default_content()
    driver.get(f"{server}/view/manual/page?url={quote(site + '/gone')}")
    assert "404" in text(driver)
    assert asked == [], "only what is stored was read"


def test_an_archived_page_runs_and_requests_nothing(server, site, asked, look):
    driver = look()
    del asked[:]
    driver.get(f"{server}/view/manual/page?url={quote(site + '/trap')}")
    driver.switch_to.frame(driver.find_element(By.TAG_NAME, "iframe"))
    wait(driver, lambda _: "A trap for browsers" in driver.find_element(By.TAG_NAME, "body").text)
    assert all(driver.find_elements(By.TAG_NAME, name) for name in ("script", "img", "link", "iframe")), "all of it is there"
    driver.switch_to.default_content()
    assert driver.execute_script("return window.pwned ?? null") is None
    assert asked == [], "nothing is requested from the site"
    frame = driver.find_element(By.TAG_NAME, "iframe")
    assert frame.get_attribute("sandbox") == "", "it may do nothing"
    # Whatever the frame would have requested comes before what the page requests now.
    assert driver.execute_async_script("fetch('/healthz').then((answer) => arguments[0](answer.status))") == 200
    assert asked == [], "nothing is requested from the site, nor later"


def test_no_text_of_a_site_is_more_than_text(server, site, look):
    driver = look()
    driver.get_log("browser")
    pages = [f"{site}/p/{n}?q={quote(hostile[:60])}" for n, hostile in enumerate(HOSTILE)]
    views = ["pages", "links", "log", "search?q=winches", "diff", f"diff?url={quote(site + '/manual')}", f"page?url={quote(site + '/')}"]
    views += [f"search?q={quote(hostile[:50])}" for hostile in HOSTILE]
    driver.get(f"{server}/view/manual/pages")
    views += [link.get_attribute("href").rsplit("/", 1)[1] for link in driver.find_elements(By.CSS_SELECTOR, "td a") if "/p" in link.text][: len(pages)]
    for view in views:
        driver.get(f"{server}/view/manual/{view}")
        assert driver.execute_script("return window.pwned ?? null") is None, view
        assert driver.execute_script("return document.querySelectorAll('main script, main img, main svg, [onerror], [onload]').length") == 0, view
        schemes = set(driver.execute_script("return [...document.links].map((each) => each.protocol)"))
        assert schemes == {"http:"}, view
        outside = driver.execute_script("return [...document.links].filter((each) => each.origin !== location.origin && each.rel !== 'noreferrer noopener').length")
        assert outside == 0, view


def test_a_search_marks_its_words(server, look):
    driver = look()
    driver.get(f"{server}/view/manual/search")
    fill(driver, q="bucket engin")
    driver.find_element(By.ID, "q").send_keys(Keys.ENTER)
    wait(driver, lambda _: driver.find_elements(By.TAG_NAME, "mark"))
    assert "Manual of the dragline" in text(driver)
    shoot(driver, "search")
    driver.get(f"{server}/view/manual/search?q=buckett")
    assert "No page has “buckett”" in text(driver) and "bucket" in text(driver)
    driver.get(f"{server}/view/manual/search?q=%22")
    assert driver.find_elements(By.ID, "mistake")


def test_two_iterations_are_compared_side_by_side(server, look):
    driver = look()
    driver.get(f"{server}/view/manual/diff")
    assert driver.find_element(By.TAG_NAME, "h1").text == "Changes from 1 to 2"
    click(driver, "Compare")
    driver.get(f"{server}/view/manual/diff")
    driver.find_element(By.CSS_SELECTOR, "td a[href*='diff']").click()
    wait(driver, lambda _: driver.find_elements(By.CLASS_NAME, "both"))
    assert [each.text for each in driver.find_elements(By.CSS_SELECTOR, ".both del")][0] == "40"
    assert driver.find_elements(By.CSS_SELECTOR, ".both ins")[0].text == "55"
    assert "<script>window.pwned=1</script>" in text(driver)
    assert any("added: " in each.get_attribute("textContent") for each in driver.find_elements(By.CSS_SELECTOR, ".is-added")), "not by colour alone"
    shoot(driver, "diff")


def test_a_definition_is_changed_and_mistakes_are_shown_at_their_place(server, look):
    driver = look()
    driver.get(f"{server}/view/manual/definition")
    field = driver.find_element(By.ID, "text")
    before = field.get_attribute("value")
    field.clear()
    field.send_keys(before.replace("pages: 100", "pagez: 100"))
    click(driver, "Save")
    mistakes = driver.find_element(By.ID, "mistakes")
    assert "unknown key `pagez`" in mistakes.text and "did you mean `pages`?" in mistakes.text
    assert "pagez: 100" in mistakes.find_element(By.XPATH, ".//p[contains(., 'unknown')]/..").text, "below its line"
    shoot(driver, "mistake")
    fill(driver, text=before.replace("pages: 100", "pages: 90"))
    click(driver, "Save")
    assert "The definition is saved" in text(driver)
    driver.get(f"{server}/view/manual/definition")
    assert "pages: 90" in driver.find_element(By.ID, "text").get_attribute("value")


def test_a_keyboard_is_enough(server, look):
    driver = look()
    driver.get(f"{server}/")
    active = lambda: driver.switch_to.active_element  # noqa: E731

    def press(key):
        active().send_keys(key)

    press(Keys.TAB)
    assert active().text == "Skip to the content"
    outline = driver.execute_script("return getComputedStyle(document.activeElement).outlineWidth")
    assert outline == "3px", "where one is can be seen"
    press(Keys.ENTER)
    for _ in range(30):
        press(Keys.TAB)
        if active().tag_name == "a" and active().text == "manual":
            break
    main = driver.find_element(By.TAG_NAME, "main")
    press(Keys.ENTER)
    wait(driver, lambda _: is_gone(main))
    assert driver.find_element(By.TAG_NAME, "h1").text == "manual"


VIEWS = ["/", "/add", "/view/manual", "/view/manual/pages", "/view/manual/links", "/view/manual/items", "/view/manual/log",
         "/view/manual/page?url={site}%2Fmanual", "/view/manual/search?q=bucket", "/view/manual/diff", "/view/manual/diff?url={site}%2Fmanual",
         "/view/manual/definition", "/nothing", "/view/none"]  # fmt: skip


@pytest.mark.parametrize(("width", "colours"), [(1280, "light"), (1280, "dark"), (320, "light")])
def test_anybody_can_use_every_view(server, site, look, width, colours):
    driver = look(width=width, colours=colours)
    titles = set()
    for view in VIEWS:
        driver.get(server + view.replace("{site}", quote(site)))
        # The archived page has its own mistakes.
        result = Axe().run(driver, options={"iframes": 0})
        assert len(result["passes"]) > 10, "the rules were applied"
        serious = [(view, rule["id"], rule["nodes"][0]["html"]) for rule in result["violations"] if rule["impact"] in ("serious", "critical")]
        assert serious == []
        assert driver.execute_script("return document.documentElement.scrollWidth") <= width, f"{view} sticks out"
        assert len(driver.find_elements(By.TAG_NAME, "h1")) == 1, view
        titles.add(driver.title)
        shoot(driver, f"{width}-{colours}-{view.strip('/').split('=')[0].replace('/', '-') or 'home'}")
    assert len(titles) >= len(VIEWS) - 1, "each says where one is"


def request(address, method="GET", **fields):
    call = urllib.request.Request(address, method=method, headers={name.replace("_", "-"): value for name, value in fields.items()})  # noqa: S310
    try:
        with urllib.request.urlopen(call) as answer:  # noqa: S310
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode()


def test_a_reader_is_told_what_he_may_not_do(guarded):
    address, basic, _ = guarded
    status, headers, body = request(f"{address}/", Accept="text/html")
    assert status == 401 and "Basic" in headers["WWW-Authenticate"] and "<h1>Who are you?</h1>" in body
    status, _, body = request(f"{address}/view/docs", Authorization=basic, Accept="text/html")
    assert status == 200 and "<button" not in body, "no buttons that would not work"
    for method, view in [("POST", "/view/docs/do/run"), ("GET", "/add")]:
        status, headers, body = request(address + view, method, Authorization=basic)
        assert status == 403 and headers.get_content_type() == "text/html" and "You may not do that" in body
    status, headers, _ = request(f"{address}/crawls/none", Authorization=basic)
    assert headers.get_content_type() == "application/problem+json", "programs get what they can read"


def test_an_editor_removes_nothing(guarded):
    address, _, editor = guarded
    status, _, body = request(f"{address}/view/docs", Authorization=editor, Accept="text/html")
    assert status == 200 and "Run now" in body and "Remove" not in body
    status, _, body = request(f"{address}/view/docs/do/remove", "POST", Authorization=editor, Content_Type="application/x-www-form-urlencoded")
    assert status == 403 and "an owner removes them" in body


def test_another_site_can_neither_press_a_button_nor_frame_a_page(server, site):
    status, _, _ = request(f"{server}/view/manual/do/run", "POST", Origin="https://evil.example")
    assert status == 403
    for path, expected in [("/", "frame-ancestors 'none'"), (f"/crawls/manual/body?url={quote(site + '/manual')}", "frame-ancestors 'self'")]:
        _, headers, _ = request(server + path)
        policy = headers["Content-Security-Policy"]
        assert expected in policy and "unsafe-inline" not in policy.split("script-src")[-1].split(";")[0], path


def test_a_crawl_is_removed_by_who_opens_the_button(server, site, look):
    driver = look()
    driver.get(f"{server}/view/manual")
    button = driver.find_element(By.XPATH, "//button[starts-with(normalize-space(), 'Remove it')]")
    assert not button.is_displayed(), "nobody removes it by mistake"
    driver.find_element(By.XPATH, "//summary[normalize-space()='Remove this crawl']").click()
    shoot(driver, "remove")
    click(driver, "Remove it")
    assert "The crawl is removed" in text(driver) and "Run now" not in text(driver)
    assert not driver.find_elements(By.XPATH, "//summary[normalize-space()='Remove this crawl']")
    driver.get(f"{server}/view/manual/pages")
    assert f"{site}/manual" in text(driver), "what it stored stays"


def shoot(driver, name):
    if SHOTS:
        Path(SHOTS).mkdir(exist_ok=True)
        driver.save_screenshot(f"{SHOTS}/{name}.png")

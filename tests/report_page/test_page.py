"""The page of `dragline report`, in a browser."""

import pytest
from axe_core_python.selenium import Axe
from chromium import PATIENCE_SECONDS
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait


def open_all(driver):
    """Opens all that can be opened, and waits until it is built."""
    driver.execute_script("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    built = "return [...document.querySelectorAll('details .inside')].every((each) => each.hasChildNodes())"
    WebDriverWait(driver, PATIENCE_SECONDS).until(lambda _: driver.execute_script(built))


def finding(driver, name):
    """Opens a finding, and returns it."""
    details = driver.find_element(By.ID, f"finding-{name}")
    details.find_element(By.TAG_NAME, "summary").click()
    WebDriverWait(driver, PATIENCE_SECONDS).until(lambda _: details.find_elements(By.CSS_SELECTOR, "tbody tr"))
    return details


def column(details, place):
    return [cell.text for cell in details.find_elements(By.CSS_SELECTOR, f"tbody td:nth-child({place})")]


@pytest.mark.parametrize(("width", "colours"), [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")])
def test_anybody_can_use_it(browse, width, colours):
    driver = browse(width=width, colours=colours)
    open_all(driver)
    result = Axe().run(driver)
    assert len(result["passes"]) > 20, "the rules were applied"
    assert [(rule["id"], rule["nodes"][0]["html"]) for rule in result["violations"]] == []
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width, "nothing sticks out"


def test_what_the_site_says_is_text_and_nothing_else(browse):
    driver = browse()
    open_all(driver)
    driver.execute_script("document.querySelectorAll('button').forEach((each) => each.click())")
    assert driver.execute_script("return window.pwned ?? null") is None
    assert driver.execute_script("return performance.getEntriesByType('resource').length") == 0, "nothing is loaded"
    assert driver.get_log("browser") == [], "nothing was tried, and refused by the policy"
    assert driver.execute_script("return document.querySelectorAll('script, img, iframe, [onerror], [onload]').length") == 2, "ours"
    followed = driver.execute_script("return [...document.links].map((each) => each.protocol)")
    assert set(followed) == {"file:", "http:"}, "links lead to pages, and within the report"
    page = driver.find_element(By.TAG_NAME, "body").text
    assert "</script><script>window.pwned=1</script>" in page, "it is shown as it is"
    assert "U+202E" in page and "\u202e" not in page, "what would turn the text round is named"


def test_tables_sort_filter_and_grow(browse):
    driver = browse()
    details = finding(driver, "broken")
    assert len(column(details, 1)) == 25
    status = details.find_element(By.CSS_SELECTOR, "[role=status]")
    assert status.text == "Rows: the first 200 of 240, 25 shown"
    details.find_element(By.XPATH, ".//button[text()='Show more']").click()
    assert len(column(details, 1)) == 100

    head = details.find_element(By.CSS_SELECTOR, "th:first-child")
    for expected, is_reversed in (("ascending", False), ("descending", True)):
        head.find_element(By.TAG_NAME, "button").send_keys(Keys.ENTER)
        assert head.get_attribute("aria-sort") == expected
        urls = column(details, 1)
        assert urls == sorted(urls, reverse=is_reversed), expected

    search = details.find_element(By.CSS_SELECTOR, "input")
    search.send_keys("/gone/23?")
    WebDriverWait(driver, PATIENCE_SECONDS).until(lambda _: len(column(details, 1)) == 1)
    assert status.text == "Rows: 1 matching of the first 200 of 240"


def test_a_link_to_a_finding_opens_it(browse, report):
    driver = browse()
    driver.get(f"{report.as_uri()}#finding-chains")
    driver.refresh()
    details = driver.find_element(By.ID, "finding-chains")
    WebDriverWait(driver, PATIENCE_SECONDS).until(lambda _: details.find_elements(By.CSS_SELECTOR, "tbody tr"))
    assert [text.rsplit("/", 1)[-1] for text in column(details, 1)] == ["one"]


def test_on_paper_all_of_it_is_open(browse):
    driver = browse()
    driver.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    assert driver.execute_script("return document.querySelectorAll('details:not([open])').length") == 0
    driver.execute_script("window.dispatchEvent(new Event('afterprint'))")
    assert driver.execute_script("return document.querySelectorAll('details[open]').length") == 0

"""A members' area is crawled as a browser sees it, directly and through proxies."""

import gzip
import json
import subprocess
import urllib.parse

import members
import pytest
from chromium import PATIENCE_SECONDS
from conftest import DRAGLINE, INTRANET, PROXY_LOGIN, dragline_crawl, write_definition
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

LOGIN = "/accounts/login/"


def pages(directory):
    """Titles and texts of the stored pages, by path."""
    command = [DRAGLINE, "export", "--what", "pages", "--format", "jsonl", "--data", directory / "dragline-data"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    rows = [json.loads(line) for line in lines]
    return {urllib.parse.urlparse(row["url"]).path: (row["title"], row["text"]) for row in rows if row["text"]}


def read_everything(directory):
    """The bytes of all files, also of those that are compressed, as they were before."""
    for path in (directory / "dragline-data").rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            yield path, data
            if path.suffix == ".gz":
                yield path, gzip.decompress(data)


def handed_out():
    """What the site gave to its visitors: names of sessions, and tokens against forgery."""
    cookies = [pair for _, _, fields in members.asked for pair in fields.get("cookie", "").split("; ") if "=" in pair]
    return {pair.split("=", 1)[1] for pair in cookies}


def test_a_members_area_is_crawled_as_a_browser_sees_it(site, crawl, browser, tmp_path):
    first = crawl()
    assert first.returncode == 0, first.stderr
    values = handed_out()
    assert len(values) >= 3, "there were sessions"
    posts = [path for method, path, _ in members.asked if method == "POST"]
    assert len(posts) >= 2 and set(posts) == {LOGIN}, "it logged in again, and sent nothing else"
    assert "/accounts/logout/" not in {path for _, path, _ in members.asked}
    crawled = pages(tmp_path)

    browser.get(f"{site}/")
    seen = {}
    for path in ["/", *(f"/pages/{number}/" for number in range(1, members.PAGES + 1))]:
        browser.get(f"{site}{path}")
        if LOGIN in browser.current_url:
            browser.find_element(By.NAME, "username").send_keys(members.NAME)
            browser.find_element(By.NAME, "password").send_keys(members.PASSWORD)
            browser.find_element(By.TAG_NAME, "button").click()
            WebDriverWait(browser, PATIENCE_SECONDS).until(lambda driver: LOGIN not in driver.current_url and driver.title != "Log in")
        seen[path] = (browser.title, browser.find_element(By.TAG_NAME, "p").text)
    assert {path: title for path, (title, _) in crawled.items()} == {path: title for path, (title, _) in seen.items()}
    for path, (_, text) in seen.items():
        assert text in crawled[path][1], path

    second = crawl(members.PASSWORD, "--data", "dragline-data")
    assert second.returncode == 0, second.stderr
    assert pages(tmp_path) == crawled, "a second iteration reads the same"
    secrets = [members.PASSWORD, urllib.parse.quote_plus(members.PASSWORD), urllib.parse.quote(members.PASSWORD), *values, *handed_out()]
    for path, data in read_everything(tmp_path):
        for secret in secrets:
            assert secret.encode() not in data, f"{secret} is in {path}"
    assert not any(secret in output for secret in secrets for output in [first.stderr, first.stdout, second.stderr, second.stdout])


def test_a_wrong_password_is_tried_once(crawl):
    refused = crawl("wrong")
    assert refused.returncode == 9, refused.stderr
    assert "the log-in failed" in refused.stderr
    assert [path for method, path, _ in members.asked if method == "POST"] == [LOGIN]
    assert {path for _, path, _ in members.asked} == {"/robots.txt", LOGIN}, "no page was requested"


def test_a_members_area_is_reached_through_a_proxy(crawl, proxy, tmp_path):
    scheme, port = proxy
    user, password = PROXY_LOGIN
    named = {"PROXY": f"{scheme}://{user}:{password}@127.0.0.1:{port}"}
    crawled = crawl(members.PASSWORD, "crawl.yaml", "--proxy", "env:PROXY", **named)
    assert crawled.returncode == 0, crawled.stderr
    assert len(pages(tmp_path)) == members.PAGES + 1
    if scheme == "http":
        assert all("via" in fields for _, _, fields in members.asked), "each request came through it"
    for path, data in read_everything(tmp_path):
        assert password.encode() not in data, path


@pytest.mark.parametrize("login", ["", "proxy-user:wrong@"])
def test_a_proxy_that_refuses_leaves_the_site_alone(crawl, proxy, login):
    scheme, port = proxy
    refused = crawl(members.PASSWORD, "crawl.yaml", "--proxy", "env:PROXY", PROXY=f"{scheme}://{login}127.0.0.1:{port}")
    assert refused.returncode != 0
    assert members.asked == [], "nothing was requested directly"
    assert "wrong" not in refused.stderr


def test_an_intranet_behind_a_proxy_that_opens_tls_is_crawled_with_its_authority(opening_proxy, tmp_path):
    proxy, authority = opening_proxy
    write_definition(tmp_path, INTRANET)
    through = ["--proxy", proxy, "--ca-file", authority]
    first = dragline_crawl(tmp_path, "crawl.yaml", *through)
    assert first.returncode == 0, first.stderr
    crawled = pages(tmp_path)
    assert crawled.keys() == {"/", *(f"/pages/{number}/" for number in range(1, members.PAGES + 1))}
    assert all(text for _, text in crawled.values())
    members.asked.clear()
    second = dragline_crawl(tmp_path, "--data", "dragline-data", *through)
    assert second.returncode == 0, second.stderr
    assert {path for _, path, _ in members.asked} >= crawled.keys(), "a second iteration gets in, too"
    assert pages(tmp_path) == crawled


def test_without_its_authority_such_a_proxy_is_told_nothing(opening_proxy, tmp_path):
    proxy, _ = opening_proxy
    write_definition(tmp_path, INTRANET)
    refused = dragline_crawl(tmp_path, "crawl.yaml", "--proxy", proxy)
    assert refused.returncode != 0
    assert members.asked == [] and pages(tmp_path) == {}
    hints = [line for line in refused.stderr.splitlines() if line.startswith("hint: ")]
    assert len(hints) == 1 and "its authority (that of a proxy, perhaps), with `--ca-file PEM`" in hints[0], refused.stderr

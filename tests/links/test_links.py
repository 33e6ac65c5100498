"""`dragline crawl --check-external` and `dragline broken`, beside LinkChecker, lychee and a script that follows each link."""

import asyncio
import csv
import json
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import many_hosts
import pytest
import site_of_links as site

DRAGLINE = Path(__file__).parents[2] / "target" / "debug" / "dragline"
PATIENCE_SECONDS = 120


def run(*command, cwd, fails=False):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
    assert fails or done.returncode in (0, 1), done.stderr  # 1: done, but URLs failed
    return done.stdout


@pytest.fixture(scope="module")
def served():
    return site.start()


@pytest.fixture(scope="module")
def crawled(served, tmp_path_factory):
    """The directory of a crawl that checked links, and what was asked meanwhile."""
    (port, asked), directory = served, tmp_path_factory.mktemp("crawl")
    asked.clear()
    run(DRAGLINE, "crawl", f"http://{site.OWN}:{port}/", "--check-external", "--allow-private", "--delay", "0s", "--retries", "1", cwd=directory)
    return directory, list(asked)


def broken_links(directory):
    """The targets of broken links, with the row of each."""
    return {row["to_url"]: row for row in findings(directory) if row["finding"] == "broken"}


def findings(directory):
    return list(map(json.loads, run(DRAGLINE, "broken", "--format", "jsonl", cwd=directory).splitlines()))


def expected_broken(port):
    return {resolve(link, port) for link, is_broken in {**site.LINKS, **site.PARTS}.items() if is_broken}


def resolve(link, port):
    link = site.absolute(link, port)
    return f"http://{site.OWN}:{port}{link}" if link.startswith("/") else link


def gets_nothing(url):
    """Whether whoever follows a link gets nothing, by a client of Python's library."""
    try:
        with urllib.request.urlopen(url, timeout=10):
            return False
    except urllib.error.HTTPError as error:
        return error.code >= 400 or error.code in (301, 302)
    except urllib.error.URLError:
        return True


def test_every_broken_link_is_told_and_no_other(served, crawled):
    port, _ = served
    truth = {resolve(link, port) for link in [*site.LINKS, *site.PARTS] if gets_nothing(resolve(link, port))}
    assert truth == expected_broken(port), "the script and the table agree"
    told = broken_links(crawled[0])
    assert told.keys() == truth, (told.keys() - truth, truth - told.keys())
    missing = told[resolve("OTHER/missing", port)]
    assert (missing["status"], missing["kind"], missing["anchor"]) == (404, "a", f"to {resolve('OTHER/missing', port)}"), missing
    assert told[resolve("/missing.gif", port)]["kind"] == "img"


def test_links_that_are_wrong_whatever_they_lead_to_are_told(served, crawled):
    port, _ = served
    told = {(row["finding"], row["url"]) for row in findings(crawled[0]) if row["finding"] != "broken"}
    expected = {(finding, link if finding == "links_malformed" else resolve(link, port)) for link, finding in site.FLAWS.items() if finding}
    assert told == expected
    report = json.loads(run(DRAGLINE, "report", "--format", "json", "--all", cwd=crawled[0]))
    assert next(finding for finding in report["findings"] if finding["id"] == "links_empty")["count"] == 1, "a hint, and no error"


def test_each_target_is_asked_for_once_and_again_where_head_failed(served, crawled):
    port, _ = served
    asked = [(method, path) for method, host, path in crawled[1] if host == site.OTHER]
    assert asked.count(("GET", "/robots.txt")) == 1
    for path, methods in {
        "/page": ["HEAD"],
        "/moved": ["HEAD"],
        "/no-head": ["HEAD", "GET"],
        "/missing": ["HEAD", "GET"],
        "/error": ["HEAD", "GET", "GET"],
        "/999": ["HEAD", "GET"],
    }.items():
        assert [method for method, of in asked if of == path] == methods, path
    strict = [(method, path) for method, host, path in crawled[1] if host == site.STRICT]
    assert strict == [("GET", "/robots.txt")], "what it forbids is not asked for"


def test_what_cannot_be_told_and_what_has_moved_are_no_errors(served, crawled):
    port, _ = served
    report = json.loads(run(DRAGLINE, "report", "--format", "json", "--all", cwd=crawled[0]))
    rows = {finding["id"]: {row.get("url"): row for row in finding["rows"]} for finding in report["findings"]}
    assert rows["external_unknown"].keys() == {resolve(link, port) for link in site.UNKNOWN}
    assert rows["external_moved"].keys() == {resolve("OTHER/moved", port)}
    assert rows["broken"].keys() >= {resolve("OTHER/missing", port)}
    assert not rows["failed"].keys() & {resolve("OTHER/error", port)}, "others' errors are no errors of the site"


def test_a_second_run_asks_for_nothing_that_worked(served, crawled):
    (port, asked), (directory, _) = served, crawled
    asked.clear()
    run(DRAGLINE, "crawl", f"http://{site.OWN}:{port}/", "--check-external", "--allow-private", "--delay", "0s", "--retries", "1", cwd=directory)
    again = {path for _, host, path in asked if host == site.OTHER}
    assert "/page" not in again and "/there.gif" not in again, again


def test_nothing_of_others_is_archived_as_a_page(served, crawled):
    port, _ = served
    out = run(DRAGLINE, "export", "--what", "pages", "--format", "jsonl", cwd=crawled[0])
    urls = {row["url"] for row in map(json.loads, out.splitlines())}
    assert f"http://{site.OTHER}:{port}/page" not in urls and f"http://{site.OWN}:{port}/" in urls


def test_linkchecker_tells_nothing_that_is_not_told_here(served, crawled, tmp_path):
    port, _ = served
    command = ["linkchecker", "--check-extern", "--no-warnings", "--output=csv", "--no-status", f"http://{site.OWN}:{port}/"]
    out = run(*command, cwd=tmp_path, fails=True)
    rows = csv.DictReader((line for line in out.splitlines() if not line.startswith("#")), delimiter=";")
    errors = {row["urlname"]: row["result"] for row in rows if row.get("valid") == "False"}
    known = {link for link in [*site.LINKS, *site.UNKNOWN, *site.PARTS]}
    told = {resolve(link, port) for link in known if link in errors or resolve(link, port) in errors}
    assert told, out
    missed = told - broken_links(crawled[0]).keys() - {resolve(link, port) for link in site.UNKNOWN}
    assert not missed, {url: errors.get(url) for url in missed}


NO_ERRORS_OF_LYCHEE = {
    # What lychee calls an error and is told otherwise here, and why.
    "OTHER/forbidden": "no program can tell what is there",
    "OTHER/too-many": "no program can tell what is there",
    "OTHER/999": "no program can tell what is there",
    "/page#/a/route": "a script reads it, and no element has to have this name",
}

LEFT_OUT_BY_LYCHEE = {
    # What is told here and not by lychee, and why.
    "http://nobody.invalid/page": "it leaves out names that are reserved for examples",
    "htp://h.example/": "it leaves out schemes that it does not know",
    "mailto:": "it leaves out mail unless asked for it",
}


def errors_of_lychee(port, directory):
    """The links that lychee calls errors. It does not crawl, so it is given the site's pages."""
    pages = [f"http://{site.OWN}:{port}{path}" for path in ("/", "/more", "/page")]
    command = ["lychee", "--format=json", "--no-progress", "--include-fragments", "--max-retries=1", *pages]
    errors = [error for of_page in json.loads(run(*command, cwd=directory, fails=True))["error_map"].values() for error in of_page]
    # What is no URL for it has none there, but is quoted.
    malformed = [link for link, finding in site.FLAWS.items() if finding == "links_malformed"]
    quoted = {link for error in errors for link in malformed if f'"{link}"' in error["status"]["text"]}
    return {error["url"] for error in errors if error["url"] != "error:"} | quoted


def test_lychee_tells_nothing_that_is_not_told_here(served, crawled, tmp_path):
    port, _ = served
    errors = errors_of_lychee(port, tmp_path)
    # A link to what is missing is told by its target, and a wrong one as it is written.
    told = {row["to_url"] if row["finding"] == "broken" else row["url"] for row in findings(crawled[0])}
    assert errors - told == {resolve(link, port) for link in NO_ERRORS_OF_LYCHEE}
    assert told - errors == {resolve(link, port) for link in LEFT_OUT_BY_LYCHEE}
    wrong = {link if finding == "links_malformed" else resolve(link, port) for link, finding in site.FLAWS.items() if finding}
    assert told == expected_broken(port) | wrong, "the script finds what lychee leaves out"


def test_many_hosts_are_asked_side_by_side(tmp_path):
    hosts = 150
    took, requests, broken = asyncio.run(many_hosts.check(hosts, tmp_path, "--delay", "500ms"))
    assert len(broken) == hosts // 7
    assert requests <= 2 * hosts + len(broken) + 4, "robots.txt and HEAD, and GET where that failed"
    assert took < hosts * 0.5, "one after the other they would take twice as long, as two requests to a host are half a second apart"

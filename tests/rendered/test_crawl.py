"""A crawl with `--render auto` of each application, beside what Playwright says of its pages."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from judge import compare
from site_of_apps import APPS, SECRET, WHOLE, Site
from truth import Truth

DRAGLINE = Path(__file__).parents[2] / "target" / "debug" / "dragline"

PATIENCE_SECONDS = 300
"""Longer than any of it takes on a busy machine; only failing tests wait for it."""

DELAY_SECONDS = 0.05

CLOCK_SECONDS = 0.02
"""How much sooner a request may arrive than its delay says, as the one before may have taken longer to arrive."""


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def documents(directory: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in run(DRAGLINE, "export", "--what", "documents", cwd=directory).splitlines()]


def rows(directory: Path, iteration: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in run(DRAGLINE, "export", "--what", "log", "--iteration", iteration, cwd=directory).splitlines()]


@pytest.mark.parametrize("app", APPS)
def test_an_application_is_crawled_as_a_browser_shows_it(app: str, site: Callable[[str], Site], truth: Callable[[str], Truth], tmp_path: Path) -> None:
    expected, served = truth(app), site(app)
    asked_before = len(served.requests)
    delay = f"{DELAY_SECONDS * 1000:.0f}ms"
    # The pages of a manual are whole as sent, but for one.
    render = {"when": "always", "paths": ["/search"]} if app == WHOLE else {"when": "auto"}
    (tmp_path / "crawl.yaml").write_text(json.dumps({"seeds": [served.url], "render": render, "politeness": {"delay": delay}}))
    run(DRAGLINE, "crawl", "crawl.yaml", "--allow-private", cwd=tmp_path)
    requests = served.requests[asked_before:]
    made = documents(tmp_path)
    assert compare(expected, made) == []

    assert not [request.path for request in requests if request.path.startswith("/private/")], "robots.txt is obeyed in pages, too"
    assert SECRET not in json.dumps(made)
    assert {request.method for request in requests} == {"GET"}
    starts = sorted(request.at for request in requests)
    too_soon = [after - before for before, after in zip(starts, starts[1:], strict=False) if after - before < DELAY_SECONDS - CLOCK_SECONDS]
    assert len(too_soon) == 0, "whatever a page requests waits for its turn"
    assets = Counter(request.path for request in requests if request.path.endswith((".js", ".css")))
    assert all(times <= 2 for times in assets.values()), f"pages share scripts and styles: {assets}"


def test_what_is_stored_of_a_page_is_printed_as_rendered_and_as_served(site: Callable[[str], Site], truth: Callable[[str], Truth], tmp_path: Path) -> None:
    url = site("react").url
    crawl = [DRAGLINE, "crawl", url, "--render", "auto", "--allow-private", "--delay", "0s", "--max-pages", "2"]
    for _ in range(2):  # the second time it is unchanged, and its document is that of the first
        run(*crawl, cwd=tmp_path)
        assert "<h1>Machines that dig</h1>" in run(DRAGLINE, "get", url, cwd=tmp_path)
        assert "<h1>" not in run(DRAGLINE, "get", url, "--served", cwd=tmp_path)
        text = run(DRAGLINE, "get", url, "--as", "text", "--whole", cwd=tmp_path)
        assert "Machines that dig" in text and "enable JavaScript" not in text
        assert run(DRAGLINE, "get", url, "--headers", cwd=tmp_path).startswith("HTTP/1.1 200")


def test_what_is_sent_whole_is_not_rendered(site: Callable[[str], Site], tmp_path: Path) -> None:
    run(DRAGLINE, "crawl", site(WHOLE).url, "--render", "auto", "--allow-private", "--delay", "0s", cwd=tmp_path)
    made = documents(tmp_path)
    assert len(made) > 8
    assert not [document["url"] for document in made if "rendering" in (document["content"] or {})]


def test_a_second_crawl_of_the_same_application_finds_nothing_new(site: Callable[[str], Site], tmp_path: Path) -> None:
    crawl = [DRAGLINE, "crawl", site("react").url, "--render", "auto", "--allow-private", "--delay", "0s"]
    run(*crawl, cwd=tmp_path)
    run(*crawl, cwd=tmp_path)
    ends = [Counter(row["outcome_name"] for row in rows(tmp_path, iteration)) for iteration in ("1", "2")]
    assert ends[1] == Counter({"file_did_not_change": ends[0]["file_ingested"]}) + Counter({"blocked_by_robots_txt": 1}), "the same answers make the same page"

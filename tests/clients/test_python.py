"""The client for Python, as programs use it."""

import json
import subprocess
import time
from http import HTTPStatus

import pytest
from conftest import DRAGLINE, PATIENCE_SECONDS

from dragline_client import AuthenticatedClient, Client
from dragline_client.api.crawls import add_scheduled_crawl, get_crawl, get_definition, list_crawls, remove_crawl, set_schedule
from dragline_client.api.iterations import get_progress, get_summary, list_iterations, start_crawling
from dragline_client.api.results import list_candidates, list_items, list_links, list_pages, list_visits, search
from dragline_client.api.server import check_health, get_metrics
from dragline_client.models import AddCrawl, Problem, ScheduleState, SetSchedule, StartCrawling

DOCS = {"name": "docs", "cron_expression": "0 3 * * *", "time_zone": "Europe/Berlin", "definition": {"politeness": {"delay": "0s"}}}


@pytest.fixture
def client(serve, tmp_path):
    with Client(base_url=serve(tmp_path), timeout=PATIENCE_SECONDS) as client:
        yield client


def adding(site, **changes):
    return AddCrawl.from_dict({**DOCS, "domain_names": [site], **changes})


def wait_until_over(client, crawl, iteration):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (state := get_progress.sync(crawl, client=client, iteration=iteration)).status != "closed":
        assert time.monotonic() < deadline, state
        time.sleep(0.05)
    return state


def rows(call, client, **query):
    """All rows of a kind, one at a time."""
    found, cursor = [], {}
    while True:
        answer = call.sync_detailed("docs", client=client, limit=1, **query, **cursor)
        assert answer.status_code == HTTPStatus.OK, answer.content
        body = json.loads(answer.content)
        found += body["rows"]
        if body["next"] is None:
            return found
        cursor = {"cursor": body["next"]}


def problem(answer, status):
    """The problem in an answer, which has to have this status."""
    assert answer.status_code == status, answer.content
    assert answer.headers["content-type"] == "application/problem+json"
    found = answer.parsed if isinstance(answer.parsed, Problem) else Problem.from_dict(json.loads(answer.content))
    assert found.status == status and found.title and found.detail, found
    return found


def test_a_crawl_is_added_started_and_read(client, site):
    added = add_scheduled_crawl.sync_detailed(client=client, body=adding(site))
    assert added.status_code == HTTPStatus.CREATED and added.parsed.state == ScheduleState.ON
    assert added.parsed.next_.tzinfo is not None, "a time has its zone"
    assert add_scheduled_crawl.sync_detailed(client=client, body=adding(site)).status_code == HTTPStatus.OK, "again it is a change"
    assert [crawl.name for crawl in list_crawls.sync(client=client).crawls] == ["docs"]
    assert b"0 3 * * *" in get_definition.sync_detailed("docs", client=client).content

    first = StartCrawling.from_dict({"iteration": 1, "type": "on_demand"})
    begun = [start_crawling.sync_detailed("docs", client=client, body=first) for _ in range(2)]
    assert [answer.status_code for answer in begun] == [HTTPStatus.ACCEPTED, HTTPStatus.OK]
    assert [answer.parsed.iteration for answer in begun] == [1, 1]
    over = wait_until_over(client, "docs", 1)
    assert (over.crawled, over.failed, over.stuck) == (3, 0, 0), over
    assert [iteration.iteration for iteration in list_iterations.sync("docs", client=client).iterations] == [1]
    assert get_summary.sync("docs", client=client).to_dict()["pages"] == 3
    assert get_crawl.sync("docs", client=client).iteration.status == "closed"

    urls = {site, f"{site}chair"}
    assert {row["url"] for row in rows(list_pages, client)} == urls
    assert {row["url"] for row in rows(list_pages, client, iteration=1)} == urls | {f"{site}gone"}, "all that it visited"
    assert {row["url"] for row in rows(list_candidates, client)} == urls | {f"{site}gone"}
    assert {row["url"]: row["status"] for row in rows(list_visits, client)} == {site: 200, f"{site}chair": 200, f"{site}gone": 404}
    assert len(rows(list_links, client)) == 2
    assert [row["url"] for row in rows(list_items, client, type_="Product")] == [f"{site}chair"]
    assert rows(list_items, client, type_="Article") == []
    found = search.sync("docs", client=client, q="winch").to_dict()
    assert [result["url"] for result in found["results"]] == [site]

    assert check_health.sync_detailed(client=client).content == b"ok\n"
    assert b'dragline_urls_crawled{crawl="docs"} 3' in get_metrics.sync_detailed(client=client).content


def test_a_schedule_is_paused_and_a_crawl_removed(client, site):
    add_scheduled_crawl.sync(client=client, body=adding(site))
    paused = set_schedule.sync("docs", client=client, body=SetSchedule(ScheduleState.PAUSED))
    assert paused.state == ScheduleState.PAUSED and not paused.next_
    assert set_schedule.sync("docs", client=client, body=SetSchedule(ScheduleState.ON)).next_
    assert remove_crawl.sync_detailed("docs", client=client).status_code == HTTPStatus.NO_CONTENT
    assert get_crawl.sync("docs", client=client).state == ScheduleState.OFF
    refused = start_crawling.sync_detailed("docs", client=client, body=StartCrawling())
    assert "docs" in problem(refused, HTTPStatus.CONFLICT).detail


def test_errors_are_problems(client, site):
    assert "GET /crawls" in problem(get_crawl.sync_detailed("missing", client=client), HTTPStatus.NOT_FOUND).hint
    wrong = add_scheduled_crawl.sync_detailed(client=client, body=adding(site, definition={"colour": 1, "budget": {"pages": -1}}))
    assert len(problem(wrong, HTTPStatus.UNPROCESSABLE_ENTITY).mistakes) == 2
    never = adding(site, cron_expression="61 * * * *")
    assert "61" in problem(add_scheduled_crawl.sync_detailed(client=client, body=never), HTTPStatus.UNPROCESSABLE_ENTITY).detail
    add_scheduled_crawl.sync(client=client, body=adding(site))
    third = StartCrawling.from_dict({"iteration": 3})
    assert "the next one is 1" in problem(start_crawling.sync_detailed("docs", client=client, body=third), HTTPStatus.CONFLICT).detail
    problem(search.sync_detailed("docs", client=client, q='"'), HTTPStatus.BAD_REQUEST)


def test_a_token_says_what_its_holder_may_do(serve, tmp_path, site):
    def token(user, role):
        command = [DRAGLINE, "token", "add", user, "--role", role, "--data", tmp_path]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    tokens = {role: token(role, role) for role in ("reader", "editor")}
    url = serve(tmp_path)
    problem(list_crawls.sync_detailed(client=Client(base_url=url)), HTTPStatus.UNAUTHORIZED)
    reader, editor = (AuthenticatedClient(base_url=url, token=tokens[role]) for role in ("reader", "editor"))
    assert list_crawls.sync(client=reader).crawls == []
    assert "editor" in problem(add_scheduled_crawl.sync_detailed(client=reader, body=adding(site)), HTTPStatus.FORBIDDEN).detail
    assert add_scheduled_crawl.sync(client=editor, body=adding(site)).name == "docs"
    assert "owner" in problem(remove_crawl.sync_detailed("docs", client=editor), HTTPStatus.FORBIDDEN).detail

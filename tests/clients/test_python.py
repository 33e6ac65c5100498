"""The client for Python, as programs use it."""

import json
import subprocess
import time
from http import HTTPStatus

import pytest
from conftest import DRAGLINE, PATIENCE_SECONDS

from dragline_client import AuthenticatedClient, Client
from dragline_client.api.crawls import add, definition, list_, one, remove, set_schedule
from dragline_client.api.iterations import iterations, progress, start, summary
from dragline_client.api.results import candidates, items, links, log, pages, search
from dragline_client.api.server import healthz, metrics
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
    while (state := progress.sync(crawl, client=client, iteration=iteration)).status != "closed":
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
    added = add.sync_detailed(client=client, body=adding(site))
    assert added.status_code == HTTPStatus.CREATED and added.parsed.state == ScheduleState.ON
    assert added.parsed.next_.tzinfo is not None, "a time has its zone"
    assert add.sync_detailed(client=client, body=adding(site)).status_code == HTTPStatus.OK, "again it is a change"
    assert [crawl.name for crawl in list_.sync(client=client).crawls] == ["docs"]
    assert b"0 3 * * *" in definition.sync_detailed("docs", client=client).content

    first = StartCrawling.from_dict({"iteration": 1, "type": "on_demand"})
    begun = [start.sync_detailed("docs", client=client, body=first) for _ in range(2)]
    assert [answer.status_code for answer in begun] == [HTTPStatus.ACCEPTED, HTTPStatus.OK]
    assert [answer.parsed.iteration for answer in begun] == [1, 1]
    over = wait_until_over(client, "docs", 1)
    assert (over.crawled, over.failed, over.stuck) == (3, 0, 0), over
    assert [iteration.iteration for iteration in iterations.sync("docs", client=client).iterations] == [1]
    assert summary.sync("docs", client=client).to_dict()["pages"] == 3
    assert one.sync("docs", client=client).iteration.status == "closed"

    urls = {site, f"{site}chair"}
    assert {row["url"] for row in rows(pages, client)} == urls
    assert {row["url"] for row in rows(pages, client, iteration=1)} == urls | {f"{site}gone"}, "all that it visited"
    assert {row["url"] for row in rows(candidates, client)} == urls | {f"{site}gone"}
    assert {row["url"]: row["status"] for row in rows(log, client)} == {site: 200, f"{site}chair": 200, f"{site}gone": 404}
    assert len(rows(links, client)) == 2
    assert [row["url"] for row in rows(items, client, type_="Product")] == [f"{site}chair"]
    assert rows(items, client, type_="Article") == []
    found = search.sync("docs", client=client, q="winch").to_dict()
    assert [result["url"] for result in found["results"]] == [site]

    assert healthz.sync_detailed(client=client).content == b"ok\n"
    assert b'dragline_urls_crawled{crawl="docs"} 3' in metrics.sync_detailed(client=client).content


def test_a_schedule_is_paused_and_a_crawl_removed(client, site):
    add.sync(client=client, body=adding(site))
    paused = set_schedule.sync("docs", client=client, body=SetSchedule(ScheduleState.PAUSED))
    assert paused.state == ScheduleState.PAUSED and not paused.next_
    assert set_schedule.sync("docs", client=client, body=SetSchedule(ScheduleState.ON)).next_
    assert remove.sync_detailed("docs", client=client).status_code == HTTPStatus.NO_CONTENT
    assert one.sync("docs", client=client).state == ScheduleState.OFF
    refused = start.sync_detailed("docs", client=client, body=StartCrawling())
    assert "docs" in problem(refused, HTTPStatus.CONFLICT).detail


def test_errors_are_problems(client, site):
    assert "GET /crawls" in problem(one.sync_detailed("missing", client=client), HTTPStatus.NOT_FOUND).hint
    wrong = add.sync_detailed(client=client, body=adding(site, definition={"colour": 1, "budget": {"pages": -1}}))
    assert len(problem(wrong, HTTPStatus.UNPROCESSABLE_ENTITY).mistakes) == 2
    never = adding(site, cron_expression="61 * * * *")
    assert "61" in problem(add.sync_detailed(client=client, body=never), HTTPStatus.UNPROCESSABLE_ENTITY).detail
    add.sync(client=client, body=adding(site))
    third = StartCrawling.from_dict({"iteration": 3})
    assert "the next one is 1" in problem(start.sync_detailed("docs", client=client, body=third), HTTPStatus.CONFLICT).detail
    problem(search.sync_detailed("docs", client=client, q='"'), HTTPStatus.BAD_REQUEST)


def test_a_token_says_what_its_holder_may_do(serve, tmp_path, site):
    def token(user, role):
        command = [DRAGLINE, "token", "add", user, "--role", role, "--data", tmp_path]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    tokens = {role: token(role, role) for role in ("reader", "editor")}
    url = serve(tmp_path)
    problem(list_.sync_detailed(client=Client(base_url=url)), HTTPStatus.UNAUTHORIZED)
    reader, editor = (AuthenticatedClient(base_url=url, token=tokens[role]) for role in ("reader", "editor"))
    assert list_.sync(client=reader).crawls == []
    assert "editor" in problem(add.sync_detailed(client=reader, body=adding(site)), HTTPStatus.FORBIDDEN).detail
    assert add.sync(client=editor, body=adding(site)).name == "docs"
    assert "owner" in problem(remove.sync_detailed("docs", client=editor), HTTPStatus.FORBIDDEN).detail

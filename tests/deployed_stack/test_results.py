"""A stack that writes its results to a database by itself: it has the same as an export, also after the database was away."""

from __future__ import annotations

import subprocess
from typing import Iterator

import pytest

from postgres import Postgres
from sites import Page, Site, of_pages
from stack.deployed import SWEEP_SECONDS, Stack, eventually

SECRET = "results/database"
"""What the stack's parameter `SinkSecret` names."""

PASSWORD = "staple-of-the-results"

ITEM = '<script type="application/ld+json">{"@context": "https://schema.org", "@type": "Product", "name": "Thing %d"}</script>'

TABLES = {
    "page": "crawl, url",
    "link": "crawl, from_url, n",
    "log": "crawl, iteration, url, n",
    "item_product": "crawl, url, n",
    "iteration_progress": "crawl, iteration",
}
"""All of them, by their keys."""

FUNCTIONS = ["Scheduler", "Crawler", "Parser", "Publisher", "Searcher", "Sweeper"]

AWAY = "the database does not answer"


def page(number: int, says: str) -> Page:
    """One that says this."""
    return Page(f"<title>{number}</title>{ITEM % number}<p>{says} <a href=/{number - 1}>before</a>".encode())


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    with Postgres() as postgres:
        for database in ("written", "exported"):
            postgres.query("postgres", f"CREATE DATABASE {database}")
        yield postgres


@pytest.fixture(scope="module")
def pages() -> dict[str, Page]:
    """Those of the site, which the tests change."""
    links = b"".join(b"<a href=/%d>page</a>" % number for number in range(1, 25))
    return {"/": Page(links), **{f"/{number}": page(number, "Words") for number in range(1, 25)}}


@pytest.fixture(scope="module")
def site(pages: dict[str, Page]) -> Iterator[Site]:
    with Site(of_pages(pages)) as site:
        yield site


@pytest.fixture(scope="module")
def stack(sinking: Stack, postgres: Postgres) -> Stack:
    sinking.client("secretsmanager").create_secret(Name=SECRET, SecretString=postgres.url("written", PASSWORD))
    return sinking


@pytest.fixture(scope="module")
def crawled(stack: Stack, site: Site) -> Stack:
    """The stack after a first iteration."""
    recrawl = {"policy": "always"}
    definition = {"name": "docs", "seeds": [f"{site.url}/"], "politeness": {"delay": "0s"}, "recrawl": recrawl}
    stack.command({"definition": definition})
    wait_for_the_end(stack, 1)
    return stack


def wait_for_the_end(stack: Stack, number: int) -> None:
    eventually(f"the end of iteration {number}", lambda: stack.is_over_after_a_sweep("docs", number), SWEEP_SECONDS)


def is_written(postgres: Postgres, number: int) -> bool:
    """Whether all results of an iteration that is over are in the database."""
    if postgres.query("written", "SELECT to_regclass('dragline.sink_progress') IS NULL").strip() == "t":
        return False
    sql = f"SELECT count(*) FROM dragline.sink_progress WHERE kind = 'log/{number}' AND source LIKE '%closed%' AND finished_at IS NOT NULL"
    done = "SELECT count(*) FROM dragline.sink_progress WHERE finished_at IS NULL"
    return (postgres.query("written", sql).strip(), postgres.query("written", done).strip()) == ("1", "0")


def rows(postgres: Postgres, database: str, table: str) -> list[str]:
    """All rows of a table, in order."""
    return postgres.query(database, f"SELECT to_jsonb(t) FROM dragline.{table} t ORDER BY {TABLES[table]}").splitlines()


def is_the_same_as_an_export(stack: Stack, postgres: Postgres, dragline, environ) -> None:
    """Exports the crawl to another database, and compares every row."""
    to = postgres.url("exported", PASSWORD)
    command = [dragline, "export", "docs", "--stack", stack.outputs["Tables"], "--to", to, "--wait", "0s"]
    done = subprocess.run(command, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for table in TABLES:
        written = rows(postgres, "written", table)
        assert written and written == rows(postgres, "exported", table), table


def test_an_iteration_that_is_over_is_written(crawled, postgres, dragline, environ):
    eventually("the results", lambda: is_written(postgres, 1))
    is_the_same_as_an_export(crawled, postgres, dragline, environ)
    assert len(rows(postgres, "written", "page")) == 25
    assert len(rows(postgres, "written", "item_product")) == 24


def test_a_database_that_is_away_gets_everything_once_it_is_back(crawled, postgres, pages, dragline, environ):
    eventually("the results of the first", lambda: is_written(postgres, 1))
    postgres.stop()
    for number in range(1, 7):
        pages[f"/{number}"] = page(number, "Changed")
    pages["/7"] = Page(b"gone", status=410)
    crawled.command({"start": {"crawl": "docs"}})
    wait_for_the_end(crawled, 2)
    eventually("the report, which waits for no database", lambda: any(crawled.objects("reports/docs/2.html")))
    eventually("what the publisher says", lambda: AWAY in crawled.log("Publisher"))
    eventually("no message that is tried again", lambda: crawled.waiting("Publications") == 0)
    assert crawled.waiting("PublicationsDead") == 0
    # The rule's next tick fails, for the alarm.
    with pytest.raises(AssertionError, match=AWAY):
        crawled.tick("Publisher")
    postgres.start()
    crawled.tick("Publisher")
    assert is_written(postgres, 2)
    is_the_same_as_an_export(crawled, postgres, dragline, environ)
    assert len(rows(postgres, "written", "log")) == 52, "each visit of both iterations, once, and of the link to nothing"


def test_a_running_iteration_is_written_by_the_rule(crawled, postgres):
    eventually("the results of the first", lambda: is_written(postgres, 1))
    latest = "SELECT iteration, status FROM dragline.iteration_progress ORDER BY 1 DESC LIMIT 1"
    with crawled.held_back("Crawler"):
        crawled.command({"start": {"crawl": "docs"}})
        eventually("another iteration", lambda: crawled.iteration("docs", 3))
        crawled.tick("Publisher")
        assert postgres.query("written", latest) == "3|open\n"
    wait_for_the_end(crawled, 3)
    eventually("its end", lambda: postgres.query("written", latest) == "3|closed\n")


def test_nobody_is_told_the_address(crawled):
    for function in FUNCTIONS:
        assert PASSWORD not in crawled.log(function), function


def test_the_publisher_may_read_that_secret_and_no_other(stack):
    iam, configuration = stack.client("iam"), stack.client("lambda").get_function_configuration
    role = configuration(FunctionName=stack.outputs["Publisher"])["Role"].rsplit("/", 1)[1]
    policies = [iam.get_role_policy(RoleName=role, PolicyName=name) for name in iam.list_role_policies(RoleName=role)["PolicyNames"]]
    statements = [statement for policy in policies for statement in policy["PolicyDocument"]["Statement"]]
    (may_read,) = (one for one in statements if "secretsmanager:GetSecretValue" in one["Action"])
    arn = stack.client("secretsmanager").describe_secret(SecretId=SECRET)["ARN"]
    # AWS makes up the last six characters.
    assert (may_read["Effect"], may_read["Resource"]) == ("Allow", f"{arn[:-6]}??????")

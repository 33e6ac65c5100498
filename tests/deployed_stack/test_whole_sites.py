"""The stack by itself: after one message the rules and the event source mappings do the rest."""

import json
import subprocess
from hashlib import sha256

import pytest

import invariants
from left import by_command, by_stack, documents_of, items_of_documents, published_items
from sites import Page, Site, of_directory, of_pages
from stack.deployed import eventually

CRAWL = "manuals"

FUNCTIONS = ["Scheduler", "Crawler", "Parser", "Sweeper", "Publisher", "Searcher"]


def item(kind):
    """A thing of this type, as a page says it to programs."""
    return f'<title>A thing</title><script type="application/ld+json">{{"@context": "https://schema.org", "@type": "{kind}", "name": "A thing"}}</script>'


THINGS = {
    "/": item("Organization") + '<a href="/chair">A chair</a> <a href="/table">A table</a>',
    "/chair": item("Product"),
    "/table": item("Product"),
}
"""Pages that say what they are about."""


def definition(*sites):
    """No delay: as fast as the sites answer."""
    seeds = [f"{site.url}/index.html" for site in sites]
    return {"name": CRAWL, "seeds": seeds, "politeness": {"delay": "0s", "concurrency": 4}}


@pytest.fixture(scope="module")
def sites(debian_docs):
    """Two manuals, of some 500 and 1,200 pages."""
    with Site(of_directory(debian_docs / "python3.11/html")) as one, Site(of_directory(debian_docs / "postgresql-doc-15/html")) as other:
        yield one, other


@pytest.fixture(scope="module")
def deployed(stack, sites, notices):
    """The stack's results for them. The test only sends to the public queue."""
    stack.command({"definition": definition(*sites)})
    # The sweeper's rule closes it, within a minute.
    eventually("the end of the iteration", lambda: stack.iteration(CRAWL).get("status") == "closed", pause_seconds=1)
    return by_stack(stack, CRAWL)


@pytest.fixture(scope="module")
def indexed(stack, deployed):
    """The stack, once it answers searches for them."""
    eventually("the word index", lambda: stack.search(CRAWL, q="index")[0] == 200, pause_seconds=1)


@pytest.fixture(scope="module")
def requests(sites, deployed):
    """The stack's requests to the sites."""
    return [list(site.asked) for site in sites]


@pytest.fixture(scope="module")
def local_data(tmp_path_factory):
    """Where the local engine crawls them."""
    return tmp_path_factory.mktemp("local") / "crawl"


@pytest.fixture(scope="module")
def local(deployed, requests, sites, dragline, local_data):
    """The local engine's results for them, afterwards."""
    return by_command(dragline, definition(*sites), local_data)


@pytest.fixture(scope="module")
def notices(stack):
    """A queue that gets every notice from now on."""
    queue = stack.sqs.create_queue(QueueName="notices-for-tests")["QueueUrl"]
    arn = stack.sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    stack.client("sns").subscribe(TopicArn=stack.outputs["Notices"], Protocol="sqs", Endpoint=arn, Attributes={"RawMessageDelivery": "true"})
    return queue


def test_each_page_is_asked_for_once_by_the_stacks_name(requests):
    for asked in requests:
        paths = [request.path for request in asked]
        assert len(paths) == len(set(paths)) > 400, "each once, robots.txt included"
        assert {request.agent for request in asked} == {asked[0].agent}
        assert "https://example.org/bot" in asked[0].agent, "the stack's contact"


def test_it_is_complete(stack, deployed, sites):
    invariants.every_candidate_has_one_ending(stack, CRAWL, deployed)
    invariants.progress_equals_the_log(deployed)
    invariants.nothing_is_under_way(stack, CRAWL)


def test_candidates_are_those_of_the_local_engine(deployed, local):
    assert deployed.candidates == local.candidates


def test_the_log_tells_of_the_same_endings(deployed, local):
    assert deployed.endings() == local.endings()


def test_progress_is_the_same(deployed, local):
    assert deployed.progress == local.progress


def test_documents_are_the_same(deployed, local):
    assert len(deployed.pages) > 1_000
    assert deployed.pages == local.pages
    assert deployed.links == local.links


def test_bodies_are_the_same(deployed, local):
    bodies = deployed.bodies()
    assert len(bodies) > 1_000
    assert bodies == local.bodies()


def test_others_read_its_warc_objects(deployed, tmp_path, warcio):
    for number, content in enumerate(deployed.objects.values()):
        (tmp_path / f"{number}.warc.gz").write_bytes(content)
    checked = subprocess.run([warcio, "check", *tmp_path.iterdir()], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_items_are_published_by_type(stack, deployed):
    """When the topic tells that the iteration is over."""
    with Site(of_pages({path: Page(thing.encode()) for path, thing in THINGS.items()})) as site:
        stack.command({"definition": {"name": "things", "seeds": [f"{site.url}/"], "politeness": {"delay": "0s"}}})
        eventually("the end of the iteration", lambda: stack.iteration("things").get("status") == "closed", pause_seconds=1)
    expected = items_of_documents(stack, "things", 1)
    assert len(expected) == len(THINGS)
    eventually("all items", lambda: published_items(stack, "things", 1) == expected, pause_seconds=1)
    keys = {key.removeprefix("items/things/1/").split("/")[0] for key, _ in stack.objects("items/things/")}
    assert keys == {"organization", "product"}, "the names of the types"


def found(answer):
    """What a search found, without what differs from one crawl of the same pages to the next."""
    return {**answer, "results": [{**hit, "score": round(hit["score"], 3), "day": None} for hit in answer["results"]]}


@pytest.mark.parametrize(
    "asked",
    [
        {"q": "garbage collector"},
        {"q": '"foreign key" -python', "per_page": "30"},
        {"q": "title:window function OR title:asyncio", "page": "2"},
        {"q": "vacuumm"},
        {"q": "vacuumm", "exact": "true"},
    ],
)
def test_searches_are_answered_as_by_the_command(stack, indexed, local, local_data, dragline, asked):
    status, answer = stack.search(CRAWL, **asked)
    options = [option for name in ("page", "per_page") if name in asked for option in (f"--{name.replace('_', '-')}", asked[name])]
    options += ["--exact"] if "exact" in asked else []
    command = [dragline, "search", asked["q"], *options, "--json", "--data", local_data / "data"]
    expected = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert (status, found(answer)) == (200, found(expected))
    assert answer["total"] > 0 or "exact" in asked
    assert answer["pages_indexed"] > 1_000


def test_pages_like_one_are_found_by_the_url(stack, indexed, sites):
    status, answer = stack.search(CRAWL, "similar", url=f"{sites[1].url}/sql-vacuum.html", count="3")
    assert status == 200
    assert len(answer["results"]) == 3 and any("vacuum" in hit["url"] for hit in answer["results"])


@pytest.mark.parametrize(
    ("crawl", "what", "asked", "status", "detail"),
    [
        (CRAWL, "search", {"q": '"open'}, 400, "the query is not valid: the quotation mark is not closed"),
        ("another", "search", {"q": "word"}, 404, "there is no crawl `another`"),
        (CRAWL, "similar", {"url": "https://elsewhere.example/"}, 404, "https://elsewhere.example/ is not in the word index"),
        (CRAWL, "nothing", {}, 404, "there is nothing here"),
    ],
)
def test_a_search_for_nothing_that_there_is_says_so(stack, indexed, crawl, what, asked, status, detail):
    answered, answer = stack.search(crawl, what, **asked)
    assert (answered, answer["detail"]) == (status, detail)


def test_people_are_told_where_the_report_is(stack, deployed, notices):
    told = []

    def written():
        received = stack.sqs.receive_message(QueueUrl=notices, MaxNumberOfMessages=10).get("Messages", [])
        told.extend(json.loads(message["Body"]) for message in received)
        return [notice for notice in told if notice["kind"] == "report_written" and notice["crawl"] == CRAWL]

    notice = eventually("the notice", written)[0]
    key = f"reports/{CRAWL}/1.html"
    bucket = stack.outputs["Archive"]
    assert notice["report"] == f"s3://{bucket}/{key}"
    assert notice["link"] == f"https://console.aws.amazon.com/s3/object/{bucket}?region=us-east-1&prefix={key}"
    ((_, report),) = stack.objects(key)
    assert report.startswith(b"<!doctype html>") and b"1695" in report.replace(b",", b"")
    assert notice["findings"], "the manuals have broken links"


@pytest.mark.parametrize("function", FUNCTIONS)
def test_processes_of_the_real_functions_did_it(stack, deployed, function):
    stack.search(CRAWL, q="index")  # which starts the searcher
    built = sha256(stack.bootstrap(function)).digest()
    living = stack.processes(function)
    assert living, "a process that was started for it lives"
    for pid in living:
        with open(f"/proc/{pid}/exe", "rb") as running:
            assert sha256(running.read()).digest() == built, "and is the function as it was built"


@pytest.mark.parametrize(("function", "queue"), [("Scheduler", "Commands"), ("Crawler", "Turns"), ("Parser", "Segments"), ("Publisher", "Publications")])
def test_event_source_mappings_brought_the_messages(stack, deployed, function, queue):
    mapping = stack.mapping(function)
    assert mapping["State"] == "Enabled"
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert mapping["EventSourceArn"].split(":")[-1] == stack.queue(queue).split("/")[-1]
    assert "turn ended" in stack.log("Crawler") and "parse ended" in stack.log("Parser")
    eventually("an empty queue", lambda: stack.waiting(queue) == 0)
    assert stack.waiting(f"{queue}Dead") == 0, "nothing is given up"


def is_over(stack, number):
    return lambda: stack.iteration(CRAWL, number).get("status") == "closed"


def test_documents_are_made_again_of_the_archive_by_a_message(stack, deployed, requests, sites):
    asked = [len(site.asked) for site in sites]
    stack.command({"reparse": {"crawl": CRAWL}})
    eventually("the end of it", is_over(stack, 2), pause_seconds=1)
    assert documents_of(stack, CRAWL, 2) == (deployed.pages, deployed.links), "the same again"
    assert [len(site.asked) for site in sites] == asked, "without a request"


def test_urls_are_visited_on_demand(stack, deployed, sites):
    asked = [len(site.asked) for site in sites]
    urls = [f"{site.url}/index.html" for site in sites]
    stack.command({"demand": {"crawl": CRAWL, "urls": urls, "depth": 0, "force": True}})
    eventually("the end of it", is_over(stack, 3), pause_seconds=1)
    news = [[request.path for request in site.asked[before:]] for site, before in zip(sites, asked)]
    assert [[path for path in paths if path != "/robots.txt"] for paths in news] == [["/index.html"]] * 2, "these and nothing else"

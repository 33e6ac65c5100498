"""From counts to dollars."""

import pytest

from bill import bill, lambda_time, naive, prices, report, shapes, standing
from bill.invocations import Invocation, Used
from bill.shapes import Shape
from bill.standing import Fixtures
from bill.usage import of_pages, of_publications, of_ticks


def used(messages=1, calls=None, write_units=None, read_units=None):
    return Used(messages, 0.5, calls or {}, write_units or {}, read_units or {}, frozenset())


def invocation(what, function="crawler", billed_seconds=0.0, log_bytes=0):
    return Invocation(function, "id", billed_seconds, 0.5, 40, log_bytes, 3.0, what)


def billed(*invocations):
    return {(line.service, line.what): line.dollars for line in bill.lines(of_pages(invocations))}


@pytest.mark.parametrize(
    ("what", "service", "line", "dollars", "why"),
    [
        ({"calls": {"SQS.SendMessage": 1_000_000}}, "SQS", "crawler, sends", 0.40, "a request of up to 64 KB"),
        ({"calls": {"S3.PutObject": 1_000}}, "S3", "crawler, puts and lists", 0.005, "a put"),
        ({"calls": {"S3.ListObjectsV2": 1_000}}, "S3", "crawler, puts and lists", 0.005, "a list costs as much as a put"),
        ({"calls": {"S3.GetObject": 1_000_000}}, "S3", "crawler, gets", 0.40, "a get"),
        ({"calls": {"SNS.Publish": 1_000_000}}, "SNS", "crawler, notices", 0.50, "a notice"),
        ({"write_units": {"log": 1_000_000}}, "DynamoDB", "crawler, write units of log", 0.625, "on demand"),
        ({"read_units": {"crawls": 1_000_000}}, "DynamoDB", "crawler, read units of crawls", 0.125, "a fifth of a write"),
    ],
)
def test_what_a_function_says_that_it_used_has_a_price(what, service, line, dollars, why):
    assert billed(invocation(used(**what)))[service, line] == pytest.approx(dollars), why


def test_an_invocation_costs_its_memory_for_its_time_its_request_and_two_of_its_queue():
    costs = billed(invocation(used(), billed_seconds=2_000.0, log_bytes=1_000_000_000))
    assert costs == {
        ("Lambda", "crawler, GB-s"): pytest.approx(1_000 * 0.0000133334),
        ("Lambda", "crawler, requests"): pytest.approx(0.20 / 1_000_000),
        ("SQS", "crawler, receives"): pytest.approx(0.40 / 1_000_000),
        ("SQS", "crawler, deletes"): pytest.approx(0.40 / 1_000_000),
        ("CloudWatch", "crawler, GB of logs"): pytest.approx(0.50),
    }


@pytest.mark.parametrize(("messages", "receives"), [(1, 1), (10, 1), (11, 2), (20, 2)])
def test_a_receive_brings_ten_messages_at_most(messages, receives):
    usage = of_pages([invocation(used(messages))])
    assert bill.calls(usage) == 2 * receives, "and so does a deletion"


def test_what_costs_nothing_is_not_on_the_bill():
    assert not any("S3" in line for line in billed(invocation(used(calls={"S3.DeleteObject": 5}))))


def test_calls_are_the_functions_own_and_the_polls_and_deletions_of_their_batches():
    usage = of_pages([invocation(used(10, {"S3.PutObject": 3})), invocation(used(1, {"DynamoDB.GetItem": 4}))])
    assert bill.calls(usage) == 3 + 4 + 2 * 2, "a batch is received and deleted by one call each"


def test_ticks_are_not_part_of_a_crawl_and_failures_are():
    invocations = [invocation(used(0), "sweeper", 1.0), invocation(used(2)), invocation(None, billed_seconds=3.0)]
    pages, ticks = of_pages(invocations), of_ticks(invocations)
    assert (set(pages), set(ticks)) == ({"crawler"}, {"sweeper"})
    assert pages["crawler"].billed_seconds == 3.0, "a failed invocation is billed too"
    assert pages["crawler"].silent == 1, "and lacks its calls, which the report says"


def test_publishing_is_a_bill_of_its_own():
    invocations = [invocation(used(calls={"S3.GetObject": 4_000}), "publisher", 2.0) for _ in range(2)] + [invocation(used(), "parser")]
    assert set(of_pages(invocations)) == {"parser"}, "a crawl costs the same whether or not it is published"
    usage = of_publications(invocations)
    assert usage["publisher"].invocations == 2, "it stopped once, and went on"
    printed = report.publication(shapes.published(), usage)
    assert "what is made of 2,000 pages, in 2 invocations" in printed
    gets = next(line.split() for line in printed.splitlines() if "gets" in line)
    assert gets[3:5] == ["4,000,000.00", "1.6000"], "8,000 of 2,000 pages are four million of a million"


def test_sites_that_are_crawled_again_are_those_that_were_crawled():
    first, again = shapes.many_origins(20, 1.0), shapes.again(20, 1.0)
    assert (first.pages_of_all, first.links, first.crawls, again.crawls) == (again.pages_of_all, again.links, 1, 2)


def test_waiting_is_shared_by_the_origins_of_an_invocation():
    alone = lambda_time.waiting_dollars(1_000_000, 0.5, 1)
    assert alone == pytest.approx(6.6667)
    assert lambda_time.waiting_dollars(1_000_000, 0.5, 20) == pytest.approx(alone / 20)
    assert lambda_time.waiting_dollars(250_000, 0.5, 1) == pytest.approx(alone / 4)


def test_what_turns_waited_for_parses_adds_up():
    assert of_pages([invocation(used()), invocation(used())])["crawler"].waited_seconds == 6.0


def test_work_is_its_calls_one_after_the_other_and_its_computing_at_its_share_of_a_vcpu():
    usage = of_pages([invocation(used(calls={"DynamoDB.GetItem": 100}), billed_seconds=60.0)])["crawler"]
    calls_seconds = 100 * lambda_time.CALL_SECONDS
    cpu_seconds = 0.5 / (0.5 / lambda_time.VCPU_GB)
    gb_seconds = (calls_seconds + cpu_seconds) * 0.5
    assert lambda_time.work_dollars(usage) == pytest.approx(gb_seconds * prices.LAMBDA_GB_SECOND), "whatever an emulator billed"


def test_the_naive_design_pays_for_each_link():
    costs = {line.what: line.dollars for line in naive.lines(1_000_000, 50, 1.0, 0.5)}
    assert costs["a conditional put a link"] == pytest.approx(31.25)
    assert costs["sends, receives, deletes"] == pytest.approx(2.40)
    assert costs["an object a page, put"] == pytest.approx(5.00)
    assert costs["waiting, GB-s"] == pytest.approx(6.6667)


def test_standing_costs_are_a_month_of_ticks_empty_polls_metrics_and_alarms():
    ticks = of_ticks([invocation(used(0), "sweeper", 1.0), invocation(used(0), "sweeper", 3.0)])
    costs = {line.what: line for line in standing.month(Fixtures(mappings=3, alarms=10, metrics=12), ticks)}
    assert costs["empty polls"].quantity == 3 * 5 * 3 * prices.MONTH_MINUTES, "five pollers, every 20 seconds"
    assert costs["metrics"].dollars == pytest.approx(3.60)
    assert costs["alarms"].dollars == pytest.approx(1.00)
    sweeps = costs["sweeper, all that they use"]
    assert sweeps.quantity == 8_640, "every five minutes"
    assert sweeps.price == pytest.approx(2.0 * 0.5 * prices.LAMBDA_GB_SECOND + prices.LAMBDA_REQUEST), "the mean of those measured"


@pytest.mark.parametrize(("pages", "links"), [(100, 50), (5_000, 50), (200, 1)])
def test_every_page_of_a_shape_can_be_reached_and_has_its_links_once(pages, links):
    shape = Shape("any", 1, pages, links, 1.0)
    reached, todo = {0}, [0]
    while todo:
        targets = shape.links_of(todo.pop())
        assert len(targets) == len(set(targets)) <= links
        todo.extend(target for target in targets if target not in reached)
        reached.update(targets)
    assert reached == set(range(pages))
    assert links == 1 or len(shape.links_of(pages - 1)) == links, "the leaves of the tree too"

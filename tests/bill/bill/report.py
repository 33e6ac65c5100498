"""What is printed of a crawl."""

from __future__ import annotations

from collections import defaultdict

from bill import bill, lambda_time, naive, prices
from bill.bill import Line
from bill.prices import MILLION
from bill.shapes import Shape
from bill.standing import Fixtures, month
from bill.usage import FunctionUsage, Usage

TICKETS_AN_INVOCATION = 20
"""How many origins may wait together: up to the number of turns per invocation, and of tickets per message."""

DELAYS_SECONDS = (0.25, 1, 10)

SHARING = (1, 5, 10, 20)


def crawl(shape: Shape, usage: Usage) -> str:
    """The bill of a crawl, for a million pages like its own."""
    pages = shape.pages_of_all
    factor = MILLION / pages
    billed = bill.scaled(bill.lines(usage), factor)
    crawler = usage["crawler"]
    segments = crawler.calls["S3.PutObject"]
    compared = bill.scaled(naive.lines(pages, shape.links, shape.delay_seconds, crawler.memory_gb), factor)
    as_billed = sum(used.gb_seconds for used in usage.values()) * prices.LAMBDA_GB_SECOND * factor
    rest = bill.dollars(billed) - as_billed
    work = sum(map(lambda_time.work_dollars, usage.values())) * factor
    sharing = min(shape.origins, TICKETS_AN_INVOCATION)
    waits = crawler.waited_seconds / pages
    waiting = _waiting(shape.delay_seconds + waits, crawler.memory_gb, sharing)
    return "\n".join(
        [
            f"== {shape.name}: {pages:,} pages, {segments} segments, {pages / segments:.1f} pages a segment",
            *_table(billed, "for a million pages"),
            *(_function(name, used) for name, used in sorted(usage.items())),
            *_silence(usage),
            f"AWS calls a page: {bill.calls(usage) / pages:.2f}",
            f"shared: {pages * shape.delay_seconds:,.0f} s of delays in {crawler.billed_seconds:,.0f} s of crawlers:"
            f" {pages * shape.delay_seconds / crawler.billed_seconds:.1f} origins an invocation",
            f"waiting a page: {shape.delay_seconds:g} s for its pace, {waits:.3f} s for parses",
            f"dollars a million pages: {rest + waiting + work:.2f} = {rest:.2f} + Lambda's time: {waiting:.2f} for the waiting of {sharing}"
            f" origins an invocation, {work:.2f} for computing and calls of {lambda_time.CALL_SECONDS * 1000:.0f} ms",
            f"with Lambda's time as it was here, {as_billed:.2f}: {rest + as_billed:.2f}",
            *_derived(rest + work, waits, crawler.memory_gb),
            *_table(compared, "for a million pages by the naive design"),
        ]
    )


def publication(shape: Shape, usage: Usage) -> str:
    """The bill of publishing an iteration, for a million pages like its own."""
    (used,) = usage.values()
    pages = shape.pages_of_all
    title = f"== {shape.name}: what is made of {pages:,} pages, in {used.invocations} invocations"
    return _alone(usage, MILLION / pages, title, "a million pages published")


def searches(usage: Usage) -> str:
    """The bill of searches, for a thousand of them."""
    (used,) = usage.values()
    return _alone(usage, 1_000 / used.invocations, f"== {used.invocations:,} searches", "a thousand searches")


def _alone(usage: Usage, factor: float, title: str, unit: str) -> str:
    """The bill of a function that waits for nobody."""
    (used,) = usage.values()
    billed = bill.scaled(bill.lines(usage), factor)
    as_billed = used.gb_seconds * prices.LAMBDA_GB_SECOND * factor
    rest = bill.dollars(billed) - as_billed
    work = lambda_time.work_dollars(used) * factor
    return "\n".join(
        [
            title,
            *_table(billed, f"for {unit}"),
            *(_function(name, used) for name, used in usage.items()),
            *_silence(usage),
            f"dollars {unit}: {rest + work:.5f} = {rest:.5f} + Lambda's time: {work:.5f} for computing and calls of"
            f" {lambda_time.CALL_SECONDS * 1000:.0f} ms",
            f"with Lambda's time as it was here, {as_billed:.5f}: {rest + as_billed:.5f}",
        ]
    )


def standing(fixtures: Fixtures, ticks: Usage) -> str:
    """What a stack costs per month."""
    return "\n".join(["== standing", *_table(month(fixtures, ticks), "a month")])


def _waiting(seconds_a_page: float, memory_gb: float, sharing: int) -> float:
    return lambda_time.waiting_dollars(MILLION * seconds_a_page, memory_gb, sharing)


def _derived(rest: float, waits: float, memory_gb: float) -> list[str]:
    """The same crawl at other delays and with other numbers of origins at the same time."""
    rows = ["-- derived: dollars a million pages, by delay and by origins that share an invocation"]
    for delay_seconds in DELAYS_SECONDS:
        costs = (f"{n:>3}: {rest + _waiting(delay_seconds + waits, memory_gb, n):7.2f}" for n in SHARING)
        rows.append(f"   {delay_seconds:>5g} s   " + "   ".join(costs))
    return rows


def _table(billed: list[Line], title: str) -> list[str]:
    services: dict[str, float] = defaultdict(float)
    for line in billed:
        services[line.service] += line.dollars
    rows = [f"-- {title}"]
    rows += [f"   {line.service:11} {line.what:36} {line.quantity:16,.2f} {line.dollars:9.4f} $" for line in billed]
    rows += [f"   {service:48} {'':16} {cost:9.4f} $" for service, cost in services.items()]
    return [*rows, f"   {'together':48} {'':16} {bill.dollars(billed):9.4f} $"]


def _function(name: str, used: FunctionUsage) -> str:
    calls = ", ".join(f"{call} {count}" for call, count in used.calls.most_common())
    return (
        f"{name}: {used.invocations} invocations, {used.messages} messages, {used.billed_seconds:.1f} s billed, "
        f"{used.cpu_seconds:.1f} s of CPU, {used.peak_mb} MB at most; {calls}"
    )


def _silence(usage: Usage) -> list[str]:
    return [f"{name}: {used.silent} invocations failed, and the bill lacks their calls" for name, used in usage.items() if used.silent]

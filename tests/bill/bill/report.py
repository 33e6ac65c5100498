"""What is printed of a crawl."""

from __future__ import annotations

from collections import defaultdict

from bill import bill, naive, waiting
from bill.bill import Line
from bill.prices import MILLION
from bill.shapes import Shape
from bill.standing import Fixtures, month
from bill.usage import Usage

TARGET_DOLLARS = 2.50
TARGET_CALLS = 1.0


def crawl(shape: Shape, usage: Usage) -> str:
    """The bill of a crawl, for a million pages like its own."""
    pages = shape.pages_of_all
    billed = bill.scaled(bill.lines(usage), MILLION / pages)
    calls, crawler = bill.calls(usage) / pages, usage["crawler"]
    sharing = waiting.origins_sharing(pages, shape.delay_seconds, crawler.billed_seconds)
    segments = crawler.calls["S3.PutObject"]
    compared = bill.scaled(naive.lines(pages, shape.links, shape.delay_seconds, _memory_gb(usage)), MILLION / pages)
    return "\n".join(
        [
            f"== {shape.name}: {pages:,} pages, {segments} segments, {pages / segments:.1f} pages a segment",
            *_table(billed, "for a million pages"),
            f"AWS calls a page: {calls:.2f} (at most {TARGET_CALLS:g} is the aim where a segment holds 30 pages)",
            f"dollars a million pages: {bill.dollars(billed):.2f} (at most {TARGET_DOLLARS:.2f} is the aim for 20 origins at 1 s)",
            *(_function(name, used) for name, used in sorted(usage.items())),
            f"crawler: {pages * shape.delay_seconds:.0f} s of origins' delays in {crawler.billed_seconds:.0f} s billed: {sharing:.1f} origins shared a second",
            *_table(compared, "for a million pages by the naive design"),
            *_silence(usage),
        ]
    )


def by_delay(shape: Shape, usage: Usage) -> str:
    """The same crawl at other delays and with other numbers of origins at the same time, by the formula of `waiting`."""
    pages, memory_gb = shape.pages_of_all, _memory_gb(usage)
    rest = bill.dollars(bill.lines(usage)) / pages * MILLION - waiting.dollars(MILLION, shape.delay_seconds, memory_gb, _sharing(shape, usage))
    rows = [f"-- derived: dollars a million pages, by delay and by origins that share an invocation ({rest:.2f} do not depend on them)"]
    for delay_seconds in (0.25, 1, 10):
        costs = (f"{n:>3}: {rest + waiting.dollars(MILLION, delay_seconds, memory_gb, n):7.2f}" for n in (1, 5, 10))
        rows.append(f"   {delay_seconds:>5g} s   " + "   ".join(costs))
    return "\n".join(rows)


def standing(fixtures: Fixtures, ticks: Usage) -> str:
    """What a stack costs a month."""
    return "\n".join(["== standing, a month", *_table(month(fixtures, ticks), "a month")])


def _table(billed: list[Line], title: str) -> list[str]:
    services: dict[str, float] = defaultdict(float)
    for line in billed:
        services[line.service] += line.dollars
    rows = [f"-- {title}"]
    rows += [f"   {line.service:11} {line.what:36} {line.quantity:16,.2f} {line.dollars:9.4f} $" for line in billed]
    rows += [f"   {service:48} {'':16} {cost:9.4f} $" for service, cost in services.items()]
    return [*rows, f"   {'together':48} {'':16} {bill.dollars(billed):9.4f} $"]


def _function(name: str, used) -> str:
    return (
        f"{name}: {used.invocations} invocations, {used.messages} messages, {used.billed_seconds:.1f} s billed, "
        f"{used.cpu_seconds:.1f} s of CPU, {used.peak_mb} MB at most, calls {dict(used.calls.most_common())}"
    )


def _silence(usage: Usage) -> list[str]:
    return [f"{name}: {used.silent} invocations failed, and the bill lacks their calls" for name, used in usage.items() if used.silent]


def _sharing(shape: Shape, usage: Usage) -> float:
    return waiting.origins_sharing(shape.pages_of_all, shape.delay_seconds, usage["crawler"].billed_seconds)


def _memory_gb(usage: Usage) -> float:
    crawler = usage["crawler"]
    return crawler.gb_seconds / crawler.billed_seconds

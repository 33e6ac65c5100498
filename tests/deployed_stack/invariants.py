"""What must hold when a crawl is over, whatever happened during it.

Each is worked out from the rows, the bytes and the site's own list of requests, never from what a function says of itself.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Iterable, Sequence

from left import Left
from sites import Asked, Site
from stack.deployed import Stack

LATE_SECONDS = 0.1
"""How late a busy machine may send a crawler's request."""


def every_candidate_has_one_ending(stack: Stack, crawl: str, left: Left) -> None:
    """No URL is lost: each claimed URL has ended once."""
    claimed = {row["pk"].split("#", 1)[1] + row["sk"] for row in stack.rows("candidates", crawl) if row["queued_in"] == 1}
    assert claimed == set(left.endings()), "as many endings as claims"


def progress_equals_the_log(left: Left) -> None:
    """The engine's counts agree with the log."""
    assert left.progress == Counter(ending[0] for ending in left.endings().values())


def nothing_is_under_way(stack: Stack, crawl: str) -> None:
    """A closed iteration has no origin open, no lease held, no segment unparsed and no todo."""
    assert stack.iteration(crawl)["open"] == 0
    rows = list(stack.rows("frontier", crawl))
    kinds = {row["sk"].split("#")[0] for row in rows}
    assert kinds <= {"inbox", "lease", "robots", "seeding", "segment"}, "no todo is left"
    assert {row["state"] for row in rows if row["sk"].startswith("segment#")} == {"processed"}
    assert {row["state"] for row in rows if row["sk"] == "lease"} == {"closed"}


def every_capture_can_be_read(left: Left) -> None:
    """Each is in its object at its offset, and its bytes have the digest that its record gives."""
    assert left.bodies(), "something was fetched"


def no_request_comes_early(site: Site, delay_seconds: float) -> None:
    """Two requests never start closer than the delay, by the site's clock."""
    times = sorted(asked.at_seconds for asked in site.asked)
    gaps = [later - earlier for earlier, later in zip(times, times[1:])]
    assert min(gaps) >= delay_seconds - LATE_SECONDS, sorted(gaps)[:5]


def robots_are_read_first_and_obeyed(site: Site, forbidden: str) -> None:
    """Nothing is requested before robots.txt, and nothing that it forbids."""
    assert site.asked[0].path == "/robots.txt"
    assert not [path for path in site.paths() if path.startswith(forbidden)]


def nothing_is_fetched_twice(site: Site, deaths: Iterable[float] = ()) -> None:
    """Except what a crawler had fetched but not committed when it died."""
    requests: dict[str, list[Asked]] = defaultdict(list)
    for asked in site.asked:
        requests[asked.path].append(asked)
    for path, several in requests.items():
        if path != "/robots.txt":
            assert len(several) - 1 <= _deaths_between(several, list(deaths)), f"{path} was fetched {len(several)} times"


def _deaths_between(several: Sequence[Asked], deaths: Sequence[float]) -> int:
    return sum(several[0].at_seconds <= death <= several[-1].at_seconds for death in deaths)

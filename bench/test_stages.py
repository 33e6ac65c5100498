"""Tests of how instructions are divided among stages. Run by `scripts/localstack test`."""

import pytest

from runner import callgrind, instructions, report, stages

WRITTEN = """\
# callgrind format
events: Ir

fl=(1) ???
fn=(1) main
0 10
cfn=(2) parse
calls=1 0
0 170
cfn=(3) store
calls=2 0
0 60

fn=(2)
0 100
cfn=(4) alloc
calls=5 0
0 70

fn=(3)
0 30
cfn=(4)
calls=1 0
0 30

fn=(4)
0 80
cfn=(5) zero
calls=6 0
0 20

fn=(5)
0 20

totals: 240
"""

TABLE = [("parse", "^parse"), ("store", "^store")]


def profile():
    return callgrind.read(WRITTEN.splitlines(keepends=True))


def test_a_profile_is_read():
    read = profile()
    assert read.total == sum(read.own.values()) == 240
    assert read.own == {"main": 10, "parse": 100, "store": 30, "alloc": 80, "zero": 20}
    assert read.calls["parse", "alloc"] == 70 and read.calls["store", "alloc"] == 30


def test_what_no_stage_owns_is_divided_among_its_callers():
    by_stage = stages.by_stage(profile(), TABLE)
    # alloc and zero are 100 together: 70 for parse and 30 for store.
    assert {stage: round(cost) for stage, cost in by_stage.items()} == {"parse": 170, "store": 60, stages.REST: 10}


def test_functions_that_call_each_other_are_divided_like_others():
    text = WRITTEN.replace("fn=(5)\n0 20\n", "fn=(5)\n0 20\ncfn=(4)\ncalls=1 0\n0 5\n")
    by_stage = stages.by_stage(callgrind.read(text.splitlines()), TABLE)
    assert {stage: round(cost) for stage, cost in by_stage.items()} == {"parse": 170, "store": 60, stages.REST: 10}


@pytest.mark.parametrize(
    ("mangled", "path", "why"),
    [
        ("_ZN4sha18compress4soft8compress17hc9b1adda00000000E", "sha1::compress::soft::compress#c9b1adda", "a path, and the hash of the instance"),
        (
            "_ZN68_$LT$dragline_http..fetcher..HttpFetcher$u20$as$u20$ports..Fetch$GT$5fetch17h0123456789abcdefE",
            "<dragline_http::fetcher::HttpFetcher as ports::Fetch>::fetch#01234567",
            "a trait's function",
        ),
        ("sqlite3_step", "sqlite3_step", "a function of C"),
        ("_RNvNtNtC4core5slice6memchr", "_RNvNtNtC4core5slice6memchr", "the other mangling, which the standard library has"),
    ],
)
def test_names_are_readable(mangled, path, why):
    assert callgrind.readable(mangled) == path, why


@pytest.mark.parametrize(
    ("now", "then", "part", "why"),
    [
        (126, 100, "more than 1.25", "a quarter and more"),
        (125, 100, "1.250 times", "just a quarter"),
        (80, 100, "record the lower figure", "less than it was"),
    ],
)
def test_a_verdict_says_what_to_do(now, then, part, why):
    assert part in instructions.verdict(now, then, "instructions a page"), why


def test_a_spread_is_of_the_ordered_values():
    assert report.spread([3, 1, 2]) == (1, 2, 3)
    assert report.spread([4, 1]) == (1, 2.5, 4)

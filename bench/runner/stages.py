"""To which stage of a crawl an instruction belongs: a table of functions, and the call graph for the rest."""

import re

REST = "rest"

STAGES = [
    ("digest", r"^<?sha1::|^<?sha2::|^<?ring::digest"),
    ("compress", r"^libdeflate_\w+_compress|^<?libdeflater::Compressor"),
    ("write WARC", r"^<?dragline_pipeline::crawl::segment::|^<?dragline_formats::warc::(writer|record)::"),
    ("parse", r"^<?dragline_extract::|^<?dragline_formats::(html|charset)::|^<?html5gum::|^<?dragline_pipeline::parse::(documents|read|captures)::|^<?dragline_formats::warc::reader::"),
    ("claim", r"^<?dragline_pipeline::parse::claims::|^<?dragline_local::frontier::candidates::claim"),
    ("store", r"^<?dragline_local::documents::|^<?dragline_local::frontier::(log|candidates)::"),
    # What `db` has is used by several stages, so it counts as its callers' own; except the thread
    # that runs and commits transactions.
    ("frontier", r"^<?dragline_local::(?!db::)|^<?dragline_local::db::writer::serve"),
    ("fetch", r"^<?dragline_http::|^<?(reqwest|hyper|hyper_util|h2|tower|tower_http|rustls|mio)::"),
]
"""Stages with the functions that are theirs, whoever calls them. The first that matches counts. What they call belongs to the stage, too, unless it is
another stage's."""

ROUNDS_MAX = 60
CLOSE_ENOUGH = 1e-4


def by_stage(profile, stages=STAGES):
    """Returns the instructions of each stage, which add up to the profile's.

    A function that is no stage's own, such as an allocator, is divided among its callers by how much of it they used: exactly, where it was
    called by them, and in proportion for what it called in turn.
    """
    patterns = [(name, re.compile(pattern)) for name, pattern in stages]
    callers = {}
    for (caller, called), cost in profile.calls.items():
        if caller != called and cost:
            callers.setdefault(called, []).append((caller, cost))
    functions = {*profile.own, *(called for _, called in profile.calls), *(caller for caller, _ in profile.calls)}
    shares, open_functions = {}, []
    for function in functions:
        stage = next((name for name, pattern in patterns if pattern.search(function)), None)
        if stage is None and function in callers:
            open_functions.append(function)
            shares[function] = {}
        else:
            shares[function] = {stage or REST: 1.0}
    open_functions = in_order(open_functions, callers)
    for _ in range(ROUNDS_MAX):
        moved = 0.0
        for function in open_functions:
            share, whole = {}, 0
            for caller, cost in callers[function]:
                for stage, part in shares[caller].items():
                    share[stage] = share.get(stage, 0.0) + part * cost
                    whole += part * cost
            if whole:
                share = {stage: part / whole for stage, part in share.items()}
                before = shares[function]
                moved = max(moved, *(abs(part - before.get(stage, 0.0)) for stage, part in share.items()))
                shares[function] = share
        if moved < CLOSE_ENOUGH:
            break
    stages_cost = dict.fromkeys([*(name for name, _ in stages), REST], 0.0)
    for function, cost in profile.own.items():
        for stage, part in (shares[function] or {REST: 1.0}).items():
            stages_cost[stage] += part * cost
    return stages_cost


def in_order(functions, callers):
    """Returns functions with callers before what they call, as far as they do not call each other in circles."""
    order, seen, wanted = [], set(), set(functions)
    for start in functions:
        todo = [(start, False)]
        while todo:
            function, is_left = todo.pop()
            if is_left:
                order.append(function)
            elif function not in seen and function in wanted:
                seen.add(function)
                todo.append((function, True))
                todo.extend((caller, False) for caller, _ in callers[function])
    return order

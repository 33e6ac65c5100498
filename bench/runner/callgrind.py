"""Reads what valgrind's callgrind wrote: how many instructions each function executed itself, and within what it called.

The format: https://valgrind.org/docs/manual/cl-format.html
"""

import re
from dataclasses import dataclass, field


@dataclass
class Profile:
    """The instructions of a run."""

    own: dict = field(default_factory=dict)
    """Those that a function executed itself, by its name."""
    calls: dict = field(default_factory=dict)
    """Those of a called function and all that it called, by the names of caller and called."""
    total: int = 0


NAMED = re.compile(r"^(c?fn)=\((\d+)\)(?: (.*))?$")


def read(lines):
    """Reads a profile from the lines of a file that was written without `--dump-instr`."""
    profile, names = Profile(), {}
    function = called = None
    is_call = False
    for line in lines:
        line = line.rstrip("\n")
        named = NAMED.match(line)
        if named:
            what, number, name = named.groups()
            if name is not None:
                names[number] = readable(name)
            if what == "fn":
                function = names[number]
            else:
                called = names[number]
        elif line.startswith("calls="):
            is_call = True
        elif line.startswith("totals:") or line.startswith("summary:"):
            profile.total = int(line.split()[1])
        elif line[:1].isdigit() or line[:1] in ("+", "-", "*"):
            cost = int(line.split()[1])
            if is_call:
                profile.calls[function, called] = profile.calls.get((function, called), 0) + cost
            else:
                profile.own[function] = profile.own.get(function, 0) + cost
            is_call = False
    return profile


MANGLED = re.compile(r"^_ZN(.*)17h([0-9a-f]{16})E(.*)$")
ESCAPES = {"LT": "<", "GT": ">", "RF": "&", "BP": "*", "LP": "(", "RP": ")", "C": ",", "SP": "@"}


def readable(name):
    """Returns a path such as `crate::module::function#hash`, with the hash that distinguishes instances of a generic function.

    Names of other languages stay as they are.
    """
    mangled = MANGLED.match(name)
    if not mangled:
        return name
    rest, hashed, _suffix = mangled.groups()
    parts = []
    while rest and rest[0].isdigit():
        digits = re.match(r"\d+", rest).group()
        length = int(digits)
        parts.append(rest[len(digits) : len(digits) + length])
        rest = rest[len(digits) + length :]
    path = "::".join(parts)
    path = re.sub(r"\$u([0-9a-f]+)\$", lambda code: chr(int(code.group(1), 16)), path)
    path = re.sub(r"\$([A-Z]+)\$", lambda code: ESCAPES.get(code.group(1), code.group()), path)
    return f"{path.replace('..', '::').replace('_<', '<')}#{hashed[:8]}"

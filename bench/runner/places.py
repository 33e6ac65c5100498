"""Where things are: the checkout, its builds, the real sites, and the cores."""

import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RELEASE = ROOT / "target/release"


def real_sites():
    """The directory of the real sites, which are fetched if they are not there."""
    fetched = subprocess.run([ROOT / "scripts/fetch-sites"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return pathlib.Path(fetched.strip())


def cores():
    """The cores of the crawler and of the server."""
    available = sorted(os.sched_getaffinity(0))
    if len(available) < 2:
        raise SystemExit("bench: this needs two cores: one for the crawler, one for the server")
    return available[0], available[1]


def pinned(to):
    """Returns a function that pins the calling process to these cores, to be called in a child before it begins."""
    return lambda: os.sched_setaffinity(0, to)

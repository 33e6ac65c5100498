"""The applications, a site for each, and the truth about them."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
import truth as judged
from site_of_apps import Site


@pytest.fixture(scope="session")
def apps() -> Path:
    """The directory of the bundled applications, in which each has a folder."""
    return Path(os.environ["RENDERED_APPS"])


@pytest.fixture(scope="session")
def site(apps: Path) -> Iterator[Callable[[str], Site]]:
    """Serves an application, given its name: the same site each time that it is asked for."""
    with ExitStack() as sites:
        yield functools.cache(lambda app: sites.enter_context(closing(Site(apps, app))))


@pytest.fixture(scope="session")
def truth(site: Callable[[str], Site]) -> Callable[[str], judged.Truth]:
    """What the pages of an application are, given its name. It is found out once."""
    return functools.cache(lambda app: judged.crawl(site(app).url))

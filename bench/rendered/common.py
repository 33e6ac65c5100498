"""What the walks have in common, so that each asks the same browser for the same pages."""

import sys
import urllib.parse
import urllib.request
import urllib.robotparser

CHROMIUM = "/usr/lib/chromium/chromium-headless-shell"

FLAGS = ["--disable-quic", "--disable-background-networking", "--disable-component-update", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
"""It contacts nobody but this machine."""

WINDOW = {"width": 1280, "height": 4096}
"""As high as Dragline's, so that nobody has to scroll."""

FOLLOWED = "a[href]:not([rel~=nofollow])"


def arguments():
    """Returns the address to begin at, and how many pages may be open at a time."""
    url, tabs = sys.argv[1:]
    return url, int(tabs)


def rules(url):
    """Returns the rules of a site's robots.txt."""
    found = urllib.robotparser.RobotFileParser()
    with urllib.request.urlopen(urllib.parse.urljoin(url, "/robots.txt"), timeout=60) as answer:
        found.parse(answer.read().decode().splitlines())
    return found

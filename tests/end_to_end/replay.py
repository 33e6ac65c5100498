"""Replays a WACZ file with pywb: reads URLs from standard input, one a line, and prints `replayed`, the status and the SHA-256 of the body of
each. A time in 14 digits before a URL asks for the visit of that time; without one, the newest is replayed.

Run in the environment of `tests/requirements.txt`:

    replay.py FILE.wacz FOLDER
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path


def main() -> None:
    package, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    manager = Path(sys.executable).with_name("wb-manager")
    os.chdir(folder)
    for arguments in (["init", "site"], ["add", "--unpack-wacz", "site", str(package)]):
        ran = subprocess.run([manager, *arguments], capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            sys.exit(f"wb-manager {arguments[0]}: {ran.stderr}")

    from gevent import monkey

    monkey.patch_all()
    from pywb.apps.frontendapp import FrontEndApp
    from werkzeug.test import Client

    client = Client(FrontEndApp())
    for line in sys.stdin.read().splitlines():
        *time, url = line.split()
        # `id_` is the answer as it was, without what is added for browsers.
        answer = client.get(f"/site/{''.join(time)}id_/{url}")
        print("replayed", answer.status_code, hashlib.sha256(answer.get_data()).hexdigest(), flush=True)


if __name__ == "__main__":
    main()

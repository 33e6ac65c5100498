"""Replays a WACZ file, or a data directory by its index, with pywb: reads URLs from standard input, one a line, and prints `replayed`, the status and the SHA-256 of the body of
each. A time in 14 digits before a URL asks for the visit of that time; without one, the newest is replayed.

Run in the environment of `tests/requirements.txt`:

    replay.py FILE.wacz FOLDER
    replay.py INDEX.cdxj FOLDER DATA
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path


def unpack(package: Path) -> None:
    manager = Path(sys.executable).with_name("wb-manager")
    for arguments in (["init", "site"], ["add", "--unpack-wacz", "site", str(package)]):
        ran = subprocess.run([manager, *arguments], capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            sys.exit(f"wb-manager {arguments[0]}: {ran.stderr}")


def in_place(index: Path, data: Path) -> None:
    config = f"collections:\n  site:\n    archive_paths: {data}/\n    index_paths: {index}\n"
    Path("config.yaml").write_text(config, encoding="utf-8")


def main() -> None:
    source, folder, *data = (Path(argument).resolve() for argument in sys.argv[1:])
    os.chdir(folder)
    if data:
        in_place(source, data[0])
    else:
        unpack(source)

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

"""The server of the sites, which counts what it is asked for."""

import json
import os
import select
import subprocess

from .places import pinned

STARTS_WITHIN_S = 300
"""Compressing a large site ahead takes a while."""


class Server:
    """A running server, which ends with the block that uses it."""

    def __init__(self, arguments, origins, core, binary):
        self.process = subprocess.Popen(
            [binary, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            preexec_fn=pinned({core}),
        )
        self.urls = [self._line(STARTS_WITHIN_S) for _ in range(origins)]

    def _line(self, seconds):
        """Reads a line of the server's output, which is written as a whole."""
        line = b""
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([self.process.stdout], [], [], seconds)
            part = os.read(self.process.stdout.fileno(), 1) if ready else b""
            if not part:
                raise SystemExit("bench: the server does not answer")
            line += part
        return line.decode().strip()

    def counts(self):
        """Returns what it was asked for since the last time: requests, different pages, bytes of their bodies."""
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()
        return json.loads(self._line(60))

    def cpu_s(self):
        """The CPU time that it has used."""
        with open(f"/proc/{self.process.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

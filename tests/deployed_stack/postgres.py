"""A PostgreSQL of a test's own, which can go away and come back."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
from pathlib import Path

BIN = Path("/usr/lib/postgresql/15/bin")
"""Where Debian's package has the programs."""

SETTINGS = "-c fsync=off -c listen_addresses=127.0.0.1 -c unix_socket_directories="


class Postgres:
    """Runs while entered."""

    def __enter__(self) -> Postgres:
        assert (BIN / "initdb").exists(), f"this needs PostgreSQL 15 in {BIN}: run `make setup`, or `apt-get install postgresql-15`"
        self._directory = tempfile.TemporaryDirectory()
        os.chmod(self._directory.name, 0o777)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self._run("initdb", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C", "--no-sync")
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._directory.cleanup()

    def start(self) -> None:
        """Starts it, and waits until it answers."""
        self._run("pg_ctl", "start", "--wait", "--log", f"{self._directory.name}/log", "--options", f"{SETTINGS} -c port={self.port}")

    def stop(self) -> None:
        """Stops it, with all its connections."""
        self._run("pg_ctl", "stop", "--wait", "--mode=fast")

    def url(self, database: str, password: str) -> str:
        """The address of a database, with a password that it does not ask for."""
        return f"postgres://postgres:{password}@127.0.0.1:{self.port}/{database}"

    def query(self, database: str, sql: str) -> str:
        """What `psql` prints: a line for each row."""
        command = ["psql", "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1"]
        to = ["--host=127.0.0.1", f"--port={self.port}", "--username=postgres", f"--dbname={database}"]
        done = subprocess.run([BIN / command[0], *command[1:], *to, f"--command={sql}"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def _run(self, program: str, *arguments: str) -> None:
        # PostgreSQL refuses to run as root.
        as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.getuid() == 0 else []
        command = [*as_user, BIN / program, "--pgdata", f"{self._directory.name}/data", *arguments]
        # What it starts keeps its output open.
        with open(f"{self._directory.name}/said", "a+") as said:
            done = subprocess.run(command, stdout=said, stderr=said, stdin=subprocess.DEVNULL, cwd=self._directory.name)
            said.seek(0)
            assert done.returncode == 0, said.read()

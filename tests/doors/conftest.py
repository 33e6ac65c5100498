"""The members' area, crawls of it, proxies that ask who calls, and one that opens TLS."""

import os
import socket
import subprocess
import sys
import time
import urllib.parse
from pathlib import Path

import chromium
import members
import pytest

DRAGLINE = Path(__file__).parents[2] / "target" / "debug" / "dragline"
INTRANET = f"https://{members.INTRANET_HOST}"
PROXY_LOGIN = ("proxy-user", "proxy-pass")


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    members.configure(tmp_path_factory.mktemp("members"))
    return members.start()


@pytest.fixture(autouse=True)
def _fresh():
    members.asked.clear()


def write_definition(directory, site):
    """Writes `crawl.yaml` for the members' area at this URL."""
    host = urllib.parse.urlparse(site).netloc
    (directory / "crawl.yaml").write_text(f"""
name: members
seeds: ['{site}/']
politeness: {{ delay: 0s }}
access:
  - hosts: ['{host}']
    allow_plain: true
    login:
      url: {site}/accounts/login/
      fields: {{ username: env:MEMBER, password: env:MEMBER_PASSWORD }}
      logged_in: Log out
""")


def dragline_crawl(directory, *arguments, **variables):
    """Runs `dragline crawl` in a directory."""
    usual = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    environment = {**usual, "MEMBER": members.NAME, "MEMBER_PASSWORD": members.PASSWORD, **variables}
    command = [DRAGLINE, "crawl", *arguments]
    return subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, timeout=chromium.PATIENCE_SECONDS, check=False)


@pytest.fixture
def crawl(site, tmp_path):
    """Crawls the members' area with this password and more arguments."""
    write_definition(tmp_path, site)

    def run(password=members.PASSWORD, *arguments, **variables):
        return dragline_crawl(tmp_path, "--allow-private", *(arguments or ["crawl.yaml"]), **{"MEMBER_PASSWORD": password, **variables})

    return run


@pytest.fixture(scope="session")
def browser():
    driver = chromium.start()
    yield driver
    driver.quit()


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(port: int) -> None:
    deadline = time.monotonic() + chromium.PATIENCE_SECONDS
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    sys.exit(f"nobody listens on port {port}")


@pytest.fixture(scope="session", params=["http", "socks5h"])
def proxy(request, tmp_path_factory):
    """A proxy: its scheme and its port."""
    port, (user, password) = free_port(), PROXY_LOGIN
    if request.param == "http":
        directory = tmp_path_factory.mktemp("proxy")
        directory.chmod(0o777)
        salted = subprocess.run(["openssl", "passwd", "-apr1", password], capture_output=True, text=True, check=True).stdout
        (directory / "users").write_text(f"{user}:{salted}")
        configuration = directory / "squid.conf"
        configuration.write_text(f"""
http_port 127.0.0.1:{port}
auth_param basic program /usr/lib/squid/basic_ncsa_auth {directory}/users
acl known proxy_auth REQUIRED
http_access allow known
http_access deny all
cache deny all
access_log none
cache_log {directory}/cache.log
pid_filename {directory}/squid.pid
coredump_dir {directory}
pinger_enable off
shutdown_lifetime 0 seconds
visible_hostname judge
""")
        for parent in [directory, *directory.parents][:3]:
            parent.chmod(parent.stat().st_mode | 0o055)
        command = ["squid", "-N", "-f", str(configuration)]
    else:
        command = ["microsocks", "-i", "127.0.0.1", "-p", str(port), "-u", user, "-P", password]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(port)
    yield request.param, port
    process.terminate()
    process.wait(timeout=60)


@pytest.fixture(scope="session")
def opening_proxy(site, tmp_path_factory):
    """A proxy by which `INTRANET` is reached, and the authority by which it opens TLS: the members' area is behind it."""
    port, directory = free_port(), tmp_path_factory.mktemp("authority")
    command = [os.environ["DOORS_MITMDUMP"], "--quiet", "--listen-host", "127.0.0.1", "--listen-port", str(port), "--set", f"confdir={directory}"]
    command += ["--set", "connection_strategy=lazy", "--map-remote", f"|{INTRANET}/|{site}/"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(port)
    yield f"http://127.0.0.1:{port}", directory / "mitmproxy-ca-cert.pem"
    process.terminate()
    process.wait(timeout=60)

#!/usr/bin/env python3
"""A browser that is told something else than what we say, by a defect that MUTANT names. It stands between us and the real one, as its program.

no_proxy: it is not told of the proxy that is not there.
page_session: requests are intercepted at the page's session, as usual, and not at the browser's.
setup_unawaited: it says that the page is set up before it is.
"""

import json
import os
import subprocess
import sys
import threading
import time

BROWSER = "/usr/lib/chromium/chromium-headless-shell"

PROXY = ("--proxy-server", "--proxy-bypass-list")

OWN_COMMANDS = 1_000_000_000
"""The numbers of commands that are not ours begin here."""

SET_UP = ("Network.setUserAgentOverride", "Page.addScriptToEvaluateOnNewDocument", "Emulation.setTimezoneOverride", "Emulation.setLocaleOverride")

LATE_SECONDS = 1.5


def messages(file):
    """What comes over a pipe, message by message."""
    rest = b""
    while data := os.read(file, 1 << 16):
        *whole, rest = (rest + data).split(b"\0")
        yield from map(json.loads, whole)


class Between:
    """What is passed on in each direction, and what is not."""

    def __init__(self, defect, to_browser, to_us):
        self._defect, self._to_browser, self._to_us = defect, to_browser, to_us
        self._lock = threading.Lock()
        self._params = None
        """Of the interception that was asked for the browser's session."""
        self._sessions = set()
        self._paused = {}
        """The session of each request that waits."""
        self._own = OWN_COMMANDS

    def command(self, message):
        """From us to the browser."""
        method, session = message["method"], message.get("sessionId")
        if self._defect == "setup_unawaited" and method in SET_UP:
            self._send(self._to_us, {"id": message["id"], "result": {}, **({"sessionId": session} if session else {})})
            self._own += 1
            threading.Timer(LATE_SECONDS, self._send, [self._to_browser, {**message, "id": self._own}]).start()
            return
        if self._defect == "page_session":
            if method == "Fetch.enable" and not session:
                self._params = message.get("params", {})
                self._send(self._to_us, {"id": message["id"], "result": {}})
                return
            if session and session not in self._sessions and method.startswith("Page."):
                self._sessions.add(session)
                self._own += 1
                self._send(self._to_browser, {"id": self._own, "method": "Fetch.enable", "params": self._params, "sessionId": session})
            request = message.get("params", {}).get("requestId")
            if method.startswith("Fetch.") and request in self._paused:
                message["sessionId"] = self._paused[request]
        self._send(self._to_browser, message)

    def event(self, message):
        """From the browser to us."""
        if message.get("id", 0) > OWN_COMMANDS:
            return
        if self._defect == "page_session" and message.get("method") == "Fetch.requestPaused":
            self._paused[message["params"]["requestId"]] = message.pop("sessionId")
        self._send(self._to_us, message)

    def _send(self, file, message):
        with self._lock:
            data = json.dumps(message).encode() + b"\0"
            while data:
                data = data[os.write(file, data) :]


def main():
    defect, arguments = os.environ["MUTANT"], sys.argv[1:]
    if defect == "no_proxy":
        os.execv(BROWSER, [BROWSER, *(argument for argument in arguments if not argument.startswith(PROXY))])
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    start = f'exec "$0" "$@" 3<&{theirs_in} 4>&{theirs_out}'
    browser = subprocess.Popen(["/bin/sh", "-c", start, BROWSER, *arguments], pass_fds=(theirs_in, theirs_out))
    os.close(theirs_in)
    os.close(theirs_out)
    between = Between(defect, ours_out, 4)

    def back():
        for message in messages(ours_in):
            between.event(message)

    threading.Thread(target=back, daemon=True).start()
    for message in messages(3):
        between.command(message)
    browser.kill()


main()

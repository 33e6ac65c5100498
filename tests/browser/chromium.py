"""Headless Chromium, which contacts nobody but this machine."""

from __future__ import annotations

import tempfile

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

FLAGS = ["headless=new", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking", "disable-component-update",
         "disable-sync", "disable-dev-shm-usage", "host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]  # fmt: skip


PATIENCE_SECONDS = 300
"""Longer than anything takes on a busy machine; only failing tests wait for it."""


def start() -> webdriver.Chrome:
    """Starts a browser with a profile of its own; the caller quits it."""
    options = webdriver.ChromeOptions()
    for flag in [*FLAGS, f"user-data-dir={tempfile.mkdtemp()}"]:
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    driver.set_page_load_timeout(PATIENCE_SECONDS)
    driver.set_script_timeout(PATIENCE_SECONDS)
    return driver

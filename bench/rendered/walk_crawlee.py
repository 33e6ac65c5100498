"""Visits all pages of a site by Crawlee's PlaywrightCrawler: walk_crawlee.py URL TABS"""

import asyncio
import re

from common import CHROMIUM, FLAGS, FOLLOWED, WINDOW, arguments
from crawlee import ConcurrencySettings
from crawlee.crawlers import PlaywrightCrawler


async def walk(home, tabs):
    crawler = PlaywrightCrawler(
        concurrency_settings=ConcurrencySettings(min_concurrency=tabs, max_concurrency=tabs, desired_concurrency=tabs),
        respect_robots_txt_file=True,
        max_request_retries=0,
        browser_launch_options={"executable_path": CHROMIUM, "args": FLAGS, "chromium_sandbox": False},
        browser_new_context_options={"viewport": WINDOW},
        configure_logging=False,
    )

    @crawler.router.default_handler
    async def visit(context):
        await context.page.wait_for_load_state("networkidle")
        await context.page.content()
        await context.enqueue_links(selector=FOLLOWED, strategy="same-origin", include=[re.compile(re.escape(home))])

    await crawler.run([home])


asyncio.run(walk(*arguments()))

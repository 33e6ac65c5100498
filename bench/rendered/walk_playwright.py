"""Visits all pages of a site by Playwright, in one browser with a context for each page: walk_playwright.py URL TABS"""

import asyncio
import urllib.parse

from common import CHROMIUM, FLAGS, FOLLOWED, WINDOW, arguments, rules
from playwright.async_api import async_playwright


async def walk(home, tabs):
    allowed, known, waiting = rules(home), {home}, asyncio.Queue()
    waiting.put_nowait(home)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)

        async def visit(url):
            context = await browser.new_context(viewport=WINDOW)
            page = await context.new_page()
            await page.goto(url, wait_until="networkidle")
            await page.content()
            for link in await page.eval_on_selector_all(FOLLOWED, "links => links.map(link => link.href)"):
                link = urllib.parse.urldefrag(link).url
                if link.startswith(home) and link not in known and allowed.can_fetch("*", link):
                    known.add(link)
                    waiting.put_nowait(link)
            await context.close()

        async def work():
            while True:
                url = await waiting.get()
                await visit(url)
                waiting.task_done()

        workers = [asyncio.create_task(work()) for _ in range(tabs)]
        is_done = asyncio.create_task(waiting.join())
        await asyncio.wait([is_done, *workers], return_when=asyncio.FIRST_COMPLETED)
        for worker in workers:
            if worker.done():
                worker.result()  # raises what ended it
            worker.cancel()
        await browser.close()


asyncio.run(walk(*arguments()))

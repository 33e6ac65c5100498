#!/usr/bin/env python3
"""A shop to try Dragline on: forty products whose prices change from day to day.

    python3 docs/guide/shop/serve.py [DAY] [PORT]      DAY is 1 unless given, PORT 8080; port 0 is any free one, which is printed
"""

import html
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KINDS = ["Chair", "Table", "Lamp", "Shelf"]
WOODS = ["oak", "ash", "beech", "walnut", "pine", "elm", "larch", "cherry", "birch", "maple"]
PRODUCTS = {f"{kind}-{wood}".lower(): f"{kind} of {wood}" for kind in KINDS for wood in WOODS}


def cents(name, day):
    """A product's price: every third product has another one each day."""
    number = list(PRODUCTS).index(name)
    return 1_990 + number * 731 + (day * 250 if number % 3 == 0 else 0)


def product(name, day):
    price = cents(name, day)
    data = {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": PRODUCTS[name],
        "sku": name,
        "offers": {"@type": "Offer", "price": f"{price / 100:.2f}", "priceCurrency": "EUR", "availability": "https://schema.org/InStock"},
    }
    return f"""<h1>{html.escape(PRODUCTS[name])}</h1>
<p class="price">{price // 100},{price % 100:02} €</p><p class="stock">{(len(name) + day) % 7} left</p>
<script type="application/ld+json">{json.dumps(data)}</script><p><a href="/">All products</a></p>"""


def page(path, day):
    if path == "/":
        return "<h1>Shop</h1><ul>" + "".join(f'<li><a href="/product/{name}">{title}</a></li>' for name, title in PRODUCTS.items()) + "</ul>"
    name = path.removeprefix("/product/")
    return product(name, day) if path.startswith("/product/") and name in PRODUCTS else None


class Shop(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    day = 1

    def do_GET(self):
        body = page(self.path, self.day)
        status, body = (200, body) if body else (404, "<h1>Not found</h1>")
        title = body.split("<h1>")[1].split("</h1>")[0]
        body = f"<!doctype html><html lang=en><meta charset=utf-8><title>{title} – Shop</title><main>{body}</main></html>".encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    day, port = (int(text) for text in (sys.argv[1:] + ["1", "8080"][len(sys.argv) - 1 :])[:2])
    Shop.day = day
    server = ThreadingHTTPServer(("127.0.0.1", port), Shop)
    print(f"http://127.0.0.1:{server.server_port}/", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass

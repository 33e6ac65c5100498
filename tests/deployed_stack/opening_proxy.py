"""A proxy that asks who calls, opens TLS with an authority of its own, and answers for the host behind it."""

from __future__ import annotations

import ssl
import tempfile
import threading
from base64 import b64encode
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from sites import Page, Source

PEM = serialization.Encoding.PEM


class OpeningProxy:
    """Serves while entered."""

    def __init__(self, host: str, source: Source, login: str) -> None:
        """`login` is the name and the password, `ada:secret`, without which every answer is 407."""
        self.authority, context = _authority_for(host)
        self.targets: list[str] = []
        """Whatever it was asked to reach."""
        self.paths: list[str] = []
        """What the host was asked for."""
        proxy, expected = self, f"Basic {b64encode(login.encode()).decode()}"

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_CONNECT(self) -> None:
                proxy.targets.append(self.path)
                if self.headers.get("Proxy-Authorization") != expected:
                    return self.answer(Page(b"", "text/plain", status=407))
                self.send_response_only(200)
                self.end_headers()
                self.connection = context.wrap_socket(self.connection, server_side=True)
                # The next request of the loop is one to the host.
                self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", 0)

            def do_GET(self) -> None:
                if not isinstance(self.connection, ssl.SSLSocket):
                    proxy.targets.append(self.path)
                    return self.answer(Page(b"", "text/plain", status=502))
                proxy.paths.append(self.path)
                self.answer(source(self.path) or Page(b"nothing here", "text/plain", status=404))

            do_POST = do_PUT = do_GET

            def answer(self, page: Page) -> None:
                self.send_response(page.status)
                self.send_header("Content-Type", page.media_type)
                self.send_header("Content-Length", str(len(page.body)))
                self.end_headers()
                self.wfile.write(page.body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://{login}@127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> OpeningProxy:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def _authority_for(host: str) -> tuple[str, ssl.SSLContext]:
    """An authority as PEM, and what serves a host with its certificate."""
    own, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Authority of the proxy")])

    def certificate(subject: x509.Name, of: ec.EllipticCurvePrivateKey, extension: x509.ExtensionType, critical: bool) -> bytes:
        now = datetime.now(timezone.utc)
        builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(of.public_key())
        builder = builder.serial_number(x509.random_serial_number()).not_valid_before(now - timedelta(days=1))
        builder = builder.not_valid_after(now + timedelta(days=30)).add_extension(extension, critical)
        return builder.sign(own, hashes.SHA256()).public_bytes(PEM)

    authority = certificate(issuer, own, x509.BasicConstraints(ca=True, path_length=0), True)
    names = x509.SubjectAlternativeName([x509.DNSName(host)])
    leaf = certificate(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)]), key, names, False)
    secret = key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile() as file:
        file.write(leaf + secret)
        file.flush()
        context.load_cert_chain(file.name)
    return authority.decode(), context

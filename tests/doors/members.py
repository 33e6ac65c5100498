"""A members' area made with Django: its log-in, its protection against forgery, its sessions."""

import threading
from pathlib import Path
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import django
from django.conf import settings

INTRANET_HOST = "intranet.example"
"""Its name behind a proxy that opens TLS."""
PAGES = 12
NAME, PASSWORD = "ada", "correct horse & battery+staple"
VIEWS_PER_SESSION = 7
"""How many pages a session shows before it ends: fewer than there are."""

LOG_IN = """<!doctype html><title>Log in</title><h1>Members</h1>{% if form.errors %}<p>That is not right.{% endif %}
<form method=post>{% csrf_token %}{{ form.username }}{{ form.password }}<input type=hidden name=next value="{{ next }}"><button>Log in</button></form>"""

asked = []
"""Method, path and fields of each request."""


def configure(directory: Path) -> None:
    settings.configure(
        DEBUG=False, SECRET_KEY="not secret", ALLOWED_HOSTS=["*"], CSRF_TRUSTED_ORIGINS=[f"https://{INTRANET_HOST}"],
        ROOT_URLCONF=__name__, LOGIN_URL="/accounts/login/", LOGIN_REDIRECT_URL="/",
        INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions"],
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": directory / "members.db", "OPTIONS": {"timeout": 60}}},
        DEFAULT_AUTO_FIELD="django.db.models.AutoField", PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        MIDDLEWARE=["django.contrib.sessions.middleware.SessionMiddleware", "django.middleware.csrf.CsrfViewMiddleware",
                    "django.contrib.auth.middleware.AuthenticationMiddleware"],
        TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates",
                    "OPTIONS": {"loaders": [("django.template.loaders.locmem.Loader", {"registration/login.html": LOG_IN})]}}],
    )  # fmt: skip
    django.setup()
    from django.contrib.auth.models import User
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    User.objects.create_user(NAME, password=PASSWORD)


def urls():
    from django.contrib.auth import logout
    from django.contrib.auth.decorators import login_required
    from django.contrib.auth.views import LoginView
    from django.http import HttpResponse
    from django.urls import path

    def page(request, number=0):
        views = request.session.get("views", 0) + 1
        request.session["views"] = views
        if views >= VIEWS_PER_SESSION:
            request.session.flush()
        links = "".join(f"<li><a href='/pages/{n}/'>Page {n}</a>" for n in range(1, PAGES + 1))
        title = f"Page {number}" if number else "Home"
        text = f"<p>What members read on page {number}: winches, ropes and buckets, number {number * 7919}.</p>"
        return HttpResponse(f"<!doctype html><html lang=en><title>{title}</title><a href='/accounts/logout/'>Log out</a><h1>{title}</h1>{text}<ul>{links}</ul>")

    def log_out(request):
        logout(request)
        return HttpResponse("<title>Bye</title>")

    member = login_required(page)
    return [
        path("", member), path("pages/<int:number>/", member), path("accounts/login/", LoginView.as_view()), path("accounts/logout/", log_out),
        path("robots.txt", lambda _: HttpResponse("User-agent: *\nDisallow: /accounts/\n", content_type="text/plain")),
    ]  # fmt: skip


def __getattr__(name):
    """Makes the URLs when they are asked for, as Django is set up by then."""
    if name != "urlpatterns":
        raise AttributeError(name)
    globals()[name] = urls()
    return globals()[name]


class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        pass


def start() -> str:
    """Starts the site, and returns its URL."""
    from django.core.wsgi import get_wsgi_application

    application = get_wsgi_application()

    def noting(environ, start_response):
        fields = {name[5:].lower(): value for name, value in environ.items() if name.startswith("HTTP_")}
        asked.append((environ["REQUEST_METHOD"], environ["PATH_INFO"], fields))
        return application(environ, start_response)

    server = make_server("127.0.0.1", 0, noting, server_class=Server, handler_class=Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"

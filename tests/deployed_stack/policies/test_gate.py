"""The gate by itself, before a server that answers whatever comes. No emulator is needed."""

import urllib.error
import urllib.request
from contextlib import contextmanager

import pytest

from gate import Gate
from permissions import Permission, Unknown
from sites import Page, Site, of_pages

BODY = Permission("s3:GetObject", "arn:aws:s3:::archive/a")
ABSENT = Permission("s3:GetObject", "arn:aws:s3:::archive/b")
LIST = Permission("s3:ListBucket", "arn:aws:s3:::archive")


@contextmanager
def before_an_archive(*permitted):
    """A gate for a role with these permissions, and the server behind it."""

    def role_of(key):
        if key != "AKIA":
            raise Unknown("a key of nobody")
        return "Crawler"

    with Site(of_pages({"/archive/a": Page(b"body")})) as site:
        with Gate(site.url, role_of, lambda role, permission: permission in permitted) as gate:
            yield gate, site


def get(gate, path, key="AKIA"):
    """Status and body."""
    credential = f"AWS4-HMAC-SHA256 Credential={key}/20260101/us-east-1/s3/aws4_request, SignedHeaders=host"
    request = urllib.request.Request(gate.endpoint + path, headers={"Authorization": credential})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def test_what_is_permitted_passes_and_is_remembered():
    with before_an_archive(BODY) as (gate, site):
        assert get(gate, "/archive/a") == (200, b"body")
        assert site.paths() == ["/archive/a"]
        assert [(one.role, one.permission, one.permitted) for one in gate.asked()] == [("Crawler", BODY, True)]
        assert gate.refused() == []


@pytest.mark.parametrize(
    ("path", "key", "refused", "why"),
    [
        ("/archive/a", "AKIA", f"Crawler: {BODY}", "the role may not"),
        ("/archive/a?acl", "AKIA", "Crawler: s3: GET /archive/a?acl", "nobody said what it needs"),
        ("/archive/a", "AKIB", "nobody: a key of nobody", "nobody knows whose key it is"),
    ],
)
def test_what_is_refused_never_arrives(path, key, refused, why):
    with before_an_archive(LIST) as (gate, site):
        status, body = get(gate, path, key)
        assert (status, b"<Code>AccessDenied</Code>" in body) == (403, True), why
        assert site.paths() == [], why
        assert gate.refused() == [refused], why


@pytest.mark.parametrize(("permitted", "status"), [((ABSENT, LIST), 404), ((ABSENT,), 403)])
def test_only_who_may_list_is_told_that_an_object_is_missing(permitted, status):
    with before_an_archive(*permitted) as (gate, _):
        assert get(gate, "/archive/b")[0] == status

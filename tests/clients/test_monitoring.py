"""The dashboard for Grafana, and the alerts for Prometheus, fit what a server says of itself."""

import json
import re
import urllib.request
from itertools import combinations

import yaml
from conftest import PATIENCE_SECONDS, ROOT

GRAFANA = ROOT / "packaging/grafana"
METRIC = re.compile(r"\bdragline_\w+")


def served(url):
    """The metrics that a server describes on /metrics."""
    with urllib.request.urlopen(f"{url}/metrics", timeout=PATIENCE_SECONDS) as answer:
        return set(re.findall(r"^# TYPE (\S+) gauge$", answer.read().decode(), re.MULTILINE))


def dashboard():
    return json.loads((GRAFANA / "dragline.json").read_text())


def test_the_dashboard_shows_all_metrics_that_a_server_has_and_no_others(serve, tmp_path):
    queries = [target["expr"] for panel in dashboard()["panels"] for target in panel["targets"]]
    variables = [variable["definition"] for variable in dashboard()["templating"]["list"] if variable["type"] == "query"]
    assert {name for text in queries + variables for name in METRIC.findall(text)} == served(serve(tmp_path))
    of_crawls = [query for query in queries if "dragline_disk_free_bytes" not in query]
    assert len(of_crawls) == len(queries) - 1, "the disk is that of all crawls"
    assert all('{crawl=~"$crawl"}' in query for query in of_crawls), "the variable selects in each of them"


def test_alerts_are_of_metrics_that_a_server_has(serve, tmp_path):
    (group,) = yaml.safe_load((GRAFANA / "alerts.yaml").read_text())["groups"]
    rules = {rule["alert"]: rule["expr"] for rule in group["rules"]}
    assert list(rules) == [
        "DraglineDown",
        "DraglineCrawlOverdue",
        "DraglineDocumentsStuck",
        "DraglineNoticesWaiting",
        "DraglineDiskNearlyFull",
    ]
    named = {name for expression in rules.values() for name in METRIC.findall(expression)}
    assert named and named <= served(serve(tmp_path)), named
    assert all(rule["labels"]["severity"] and rule["annotations"].keys() == {"summary", "description"} for rule in group["rules"])


def test_panels_are_beside_each_other():
    found = dashboard()
    assert found["schemaVersion"] == 39 and len({panel["id"] for panel in found["panels"]}) == len(found["panels"])
    places = [(panel["title"], panel["gridPos"]) for panel in found["panels"]]
    for title, place in places:
        assert place["x"] >= 0 and place["y"] >= 0 and place["w"] > 0 and place["h"] > 0 and place["x"] + place["w"] <= 24, title
    for (one, a), (other, b) in combinations(places, 2):
        is_apart = a["x"] + a["w"] <= b["x"] or b["x"] + b["w"] <= a["x"] or a["y"] + a["h"] <= b["y"] or b["y"] + b["h"] <= a["y"]
        assert is_apart, f"{one} overlaps {other}"

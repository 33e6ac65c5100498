"""What `scripts/adopt` imports. No emulator imports resources, so this looks at what CloudFormation would get."""

from __future__ import annotations

import importlib.util
from importlib.machinery import SourceFileLoader
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


def _adopt():
    loader = SourceFileLoader("adopt", str(SCRIPTS / "adopt"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("adopt", loader))
    loader.exec_module(module)
    return module


def test_what_outlives_a_stack_can_be_imported_by_its_name():
    adopt = _adopt()
    template = adopt.TEMPLATE.read_text()
    found = {each["LogicalResourceId"]: each["ResourceIdentifier"] for each in adopt.identifiers(template, "docs", "bodies-1")}
    assert found == {
        "CrawlsTable": {"TableName": "docs-crawls"},
        "FrontierTable": {"TableName": "docs-frontier"},
        "CandidatesTable": {"TableName": "docs-candidates"},
        "LogTable": {"TableName": "docs-log"},
        "Archive": {"BucketName": "bodies-1"},
    }, "all that has to be there again, and nothing else"


def test_it_is_imported_as_the_template_has_it_and_names_nothing_else():
    adopt = _adopt()
    template = adopt.TEMPLATE.read_text()
    imported = adopt.import_template(template)
    for line in imported.splitlines()[2:]:
        assert f"\n{line}\n" in template, line
    assert imported.count("DeletionPolicy: RetainExceptOnCreate") == template.count("DeletionPolicy: Retain") == 5
    for reference in ("!Ref", "!GetAtt", "!If"):
        assert reference not in imported, "a resource that is not imported"

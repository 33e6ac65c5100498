"""Each function may do what it does, and nothing else: the stack runs behind a gate that refuses what a function's role does not permit.

Run by `scripts/localstack test tests/deployed_stack/policies`, after a build of the functions.
"""

import json

import boto3
import pytest
from botocore.exceptions import ClientError

import roles
from calls import CALLS
from gate import Gate
from judge import Judge
from permissions import Unknown
from resources import REGION, Resources
from rights import FOR_LAMBDA, REFUSED, SELDOM
from scenario import Scenario
from stack.deployed import eventually


@pytest.fixture(scope="module")
def judge():
    with Judge() as judge:
        yield judge


@pytest.fixture(scope="module")
def by_function(stack):
    return roles.of_stack(stack)


@pytest.fixture(scope="module")
def resources(stack):
    return Resources(stack)


@pytest.fixture(scope="module")
def archive_policy(stack, resources):
    return json.loads(stack.client("s3").get_bucket_policy(Bucket=resources.bucket)["Policy"])


@pytest.fixture(scope="module")
def permits(judge, by_function, archive_policy):
    """Whether a function has a permission."""

    def permits(function, permission):
        on_archive = archive_policy if permission.action.startswith("s3:") else None
        return judge.permits(by_function[function].policies, permission, resource_policy=on_archive)

    return permits


@pytest.fixture(scope="module")
def endpoint(stack):
    return stack.client("sts").meta.endpoint_url


@pytest.fixture(scope="module")
def role_of(endpoint, by_function):
    """The function whose role a key belongs to."""
    function_of = {role.arn.rsplit("/", 1)[1]: function for function, role in by_function.items()}
    known = {}

    def role_of(key):
        if key not in known:
            sts = boto3.client(
                "sts", endpoint_url=endpoint, region_name=REGION, aws_access_key_id=key, aws_secret_access_key="unchecked"
            )
            who = sts.get_caller_identity()["Arn"]
            role = who.partition(":assumed-role/")[2].partition("/")[0]
            if role not in function_of:
                raise Unknown(f"a request of {who}, which is no function's role")
            known[key] = function_of[role]
        return known[key]

    return role_of


@pytest.fixture(scope="module")
def gate(endpoint, role_of, permits):
    """The functions' own."""
    with Gate(endpoint, role_of, permits) as gate:
        yield gate


@pytest.fixture(scope="module")
def side_gate(endpoint, role_of, permits):
    """Another gate, for trying what functions do not do."""
    with Gate(endpoint, role_of, permits) as gate:
        yield gate


@pytest.fixture(scope="module")
def behind_the_gate(stack, gate):
    """The stack, whose functions call the gate as long as this is there. Its rules are silent: the scenario wakes the functions itself."""
    functions = stack.client("lambda")
    names = [stack.outputs[function] for function in roles.FUNCTIONS]
    before = {name: functions.get_function_configuration(FunctionName=name)["Environment"]["Variables"] for name in names}

    def tell(changes):
        for name, variables in before.items():
            functions.update_function_configuration(FunctionName=name, Environment={"Variables": {**variables, **changes}})
            functions.get_waiter("function_updated_v2").wait(FunctionName=name)

    with stack.silent():
        tell({"AWS_ENDPOINT_URL": gate.endpoint})
        yield stack
        tell({})


@pytest.fixture(scope="module")
def asked(behind_the_gate, gate):
    """What the functions requested during a whole scenario."""

    def eventually_unless_refused(what, look, *pause):
        def look_at_both():
            assert not (refused := gate.refused()), f"refused, and so never seen: {what}\n" + "\n".join(refused)
            return look()

        return eventually(what, look_at_both, *pause)

    Scenario(behind_the_gate, eventually_unless_refused).run()
    return gate.asked()


@pytest.fixture(scope="module")
def as_function(side_gate, stack, by_function):
    """Clients that have a function's role, and go through a gate."""

    def as_function(function):
        role = by_function[function].arn
        lent = stack.client("sts").assume_role(RoleArn=role, RoleSessionName="test")["Credentials"]
        return lambda service: boto3.client(
            service,
            endpoint_url=side_gate.endpoint,
            region_name=REGION,
            aws_access_key_id=lent["AccessKeyId"],
            aws_secret_access_key=lent["SecretAccessKey"],
            aws_session_token=lent["SessionToken"],
        )

    return as_function


def test_nothing_that_a_function_asks_for_is_refused(asked, gate, stack):
    assert gate.refused() == []
    assert {one.role for one in asked} == set(roles.FUNCTIONS), "each came through the gate"
    for function in roles.FUNCTIONS:
        assert "REPORT" in (log := stack.log(function)), f"the {function} has run"
        assert "AccessDenied" not in log, f"the {function} was told so by somebody else"


def test_what_functions_do_too_seldom_to_be_seen_here_is_permitted(resources, permits):
    missing = [
        f"{function}: {permission}, for {why}"
        for function, action, name, why in SELDOM
        if not permits(function, permission := resources.permission(action, name))
    ]
    assert missing == []


def test_lambda_may_receive_and_log_for_each_function(resources, permits):
    missing = [
        f"{function}: {permission}"
        for function, action, name in FOR_LAMBDA
        if not permits(function, permission := resources.permission(action, name))
    ]
    assert missing == []


def test_each_grant_is_used_or_its_use_is_known(asked, resources, judge, by_function):
    used = {function: [] for function in roles.FUNCTIONS}
    for one in asked:
        used[one.role].append(one.permission)
    for function, action, name, _ in SELDOM:
        used[function].append(resources.permission(action, name))

    def is_used(grant):
        policy = {"Version": "2012-10-17", "Statement": [grant.statement]}
        return any(judge.permits([policy], one) for one in used[grant.function] if one.action == grant.action)

    unused = [str(grant) for role in by_function.values() for grant in role.grants() if not is_used(grant)]
    assert unused == [], "the template grants what nobody uses"


def test_no_grant_names_more_than_it_must(by_function):
    grants = [grant for role in by_function.values() for grant in role.grants()]
    assert len(grants) > 50, "they were read"
    for grant in grants:
        assert "*" not in grant.action, f"any action: {grant}"
        assert "*" not in grant.resource.removesuffix("/*"), f"any resource: {grant}"
        assert grant.action.startswith(("s3:", "secretsmanager:")) or "*" not in grant.resource, f"only objects and secrets are many: {grant}"


@pytest.mark.parametrize(("function", "action", "name", "why"), REFUSED)
def test_a_function_is_refused_what_is_not_its_own(function, action, name, why, resources, side_gate, as_function):
    with pytest.raises(ClientError) as refusal:
        CALLS[action](as_function(function), resources, name)
        pytest.fail(f"it was permitted, but {why}")
    assert refusal.value.response["Error"]["Code"] in ("AccessDenied", "AccessDeniedException"), refusal.value
    # Not because the gate did not recognise it, nor for another permission that it needs.
    assert f"{function}: {resources.permission(action, name)}" in side_gate.refused()


def test_the_archive_is_refused_without_encryption(resources, judge, by_function, archive_policy):
    policies, body = by_function["Crawler"].policies, resources.permission("s3:PutObject", "body")
    for transport, expected in [("https", True), ("http", False)]:
        assert judge.permits(policies, body, resource_policy=archive_policy, transport=transport) == expected, transport


def test_who_may_not_list_objects_is_not_told_that_one_is_missing(resources, as_function):
    for function, name, code, why in [
        ("Parser", "document", "NoSuchKey", "a document that is not there yet"),
        ("Crawler", "robots", "NoSuchKey", "a robots.txt that somebody deleted is asked for anew"),
        ("Sweeper", "body", "AccessDenied", "it may not even ask"),
    ]:
        with pytest.raises(ClientError) as error:
            CALLS["s3:GetObject"](as_function(function), resources, name)
        assert error.value.response["Error"]["Code"] == code, why

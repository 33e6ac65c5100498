"""Decides by ministack's evaluation of policies: a question a line of stdin, a decision a line of stdout. Run by ministack's Python."""

import json
import sys

from ministack.core.iam_evaluator import EvalContext, combine_resource_policy, evaluate, parse_policy_document

for line in sys.stdin:
    asked = json.loads(line)
    context = EvalContext(
        principal_arn=f"arn:aws:sts::{asked['account']}:assumed-role/function/session",
        principal_type="AssumedRole",
        principal_account=asked["account"],
        action=asked["action"],
        resource_arn=asked["resource"],
        region="us-east-1",
        secure_transport=asked["transport"] == "https",
        service_context=asked["context"],
    )
    decided = evaluate(context, [parse_policy_document(policy) for policy in asked["policies"]])
    decided = combine_resource_policy(decided, context, asked["resource_policy"], asked["account"])
    print(json.dumps(decided.decision), flush=True)

"""Runs Lambda functions as processes of this machine, behind a Lambda Runtime API of our own.

`plugin` is what LocalStack loads and `executor` speaks its language. The rest knows nothing of LocalStack: an `environment`
is what Lambda calls an execution environment, a `runtime` is one life of its process, the `runtime_api` is what that process
asks for work, and the `stream` is where both write what happened.
"""

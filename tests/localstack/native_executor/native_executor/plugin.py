"""What LocalStack loads when LAMBDA_RUNTIME_EXECUTOR is `native`."""

from localstack.services.lambda_.invocation.plugins import RuntimeExecutorPlugin


class NativeExecutorPlugin(RuntimeExecutorPlugin):
    """Names the executor; imports it only when it is wanted."""

    name = "native"

    def load(self, *_args, **_kwargs):
        from native_executor.executor import NativeExecutor

        return NativeExecutor

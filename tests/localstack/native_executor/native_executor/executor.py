"""LocalStack's side: it makes one executor for each execution environment that it wants."""

import os
from pathlib import Path

from localstack import config
from localstack.services.lambda_.invocation.executor_endpoint import StatusErrorException
from localstack.services.lambda_.invocation.lambda_models import FunctionVersion, InvocationResult
from localstack.services.lambda_.invocation.runtime_executor import RuntimeExecutor

from native_executor.environment import CannotStart, Environment, Limits
from native_executor.runtime import Program
from native_executor.runtime_api import Invocation
from native_executor.stream import Stream

LOOPBACK = "127.0.0.1"

LAYERS = "/opt/"

STREAMS = Path(os.environ["FILESYSTEM_ROOT"]).parent / "functions"
"""Gets a directory for each function, with a file for each of its environments."""


class NativeExecutor(RuntimeExecutor):
    """Runs the `bootstrap` of a function's archive as a process. Function code of a custom runtime only."""

    def __init__(self, id: str, function_version: FunctionVersion) -> None:
        super().__init__(id=id, function_version=function_version)
        self._stream = Stream(STREAMS / function_version.id.function_name / f"{id}.log")
        self._environment: Environment | None = None

    def start(self, env_vars: dict[str, str]) -> None:
        settings = self.function_version.config
        bootstrap = Path(settings.code.get_unzipped_code_location()) / "bootstrap"
        if bootstrap.is_file():
            bootstrap.chmod(0o755)  # archives made elsewhere may not carry the mode
        limits = Limits(
            # Before LocalStack's own timer, which knows less about what went wrong.
            init_seconds=max(1, config.LAMBDA_RUNTIME_ENVIRONMENT_TIMEOUT - 2),
            invoke_seconds=settings.timeout,
            memory_mb=settings.memory_size,
        )
        layers = [layer.code.get_unzipped_code_location() for layer in settings.layers]
        program = Program(bootstrap, _process_environment(env_vars, bootstrap.parent, layers))
        self._environment = Environment(program, limits, self.function_version.id.qualifier, self._stream)
        try:
            self._environment.start()
        except CannotStart as error:
            raise StatusErrorException("Environment startup failed", payload=error.payload) from error

    def stop(self) -> None:
        if self._environment is not None:
            self._environment.stop()

    def invoke(self, payload: dict[str, str]) -> InvocationResult:
        outcome = self._environment.invoke(
            Invocation(
                request_id=payload["invoke-id"],
                payload=payload["payload"].encode(),
                function_arn=payload["invoked-function-arn"],
                trace_id=payload.get("trace-id") or "",
            )
        )
        return InvocationResult(payload["invoke-id"], outcome.payload, is_error=outcome.is_error, logs=outcome.log)

    def get_logs(self) -> str:
        return self._stream.text()

    def get_address(self) -> str:
        return LOOPBACK

    def get_endpoint_from_executor(self) -> str:
        return LOOPBACK

    def get_runtime_endpoint(self) -> str:
        # What a runtime inside a container would call back. Ours never does, but LocalStack tells
        # each function.
        return f"http://{LOOPBACK}:{config.GATEWAY_LISTEN[0].port}/_localstack_lambda/{self.id}"

    @classmethod
    def prepare_version(cls, function_version: FunctionVersion) -> None:
        if function_version.config.code:
            function_version.config.code.prepare_for_execution()
        for layer in function_version.config.layers:
            layer.code.prepare_for_execution()

    @classmethod
    def cleanup_version(cls, function_version: FunctionVersion) -> None:
        """The code goes when LocalStack's files do."""


def _process_environment(env_vars: dict[str, str], code: Path, layers: list[Path]) -> dict[str, str]:
    """A function's environment variables: LocalStack's, and of this machine's only PATH. Those that name a file of a layer name where that is here."""
    return {
        "PATH": os.environ["PATH"],
        "LANG": "en_US.UTF-8",
        **{name: _in_layers(str(value), layers) for name, value in env_vars.items()},
        "LAMBDA_TASK_ROOT": str(code),
    }


def _in_layers(value: str, layers: list[Path]) -> str:
    """Lambda unpacks all layers of a function in one directory."""
    if not value.startswith(LAYERS):
        return value
    return next((str(file) for layer in layers if (file := layer / value.removeprefix(LAYERS)).exists()), value)

"""A bootstrap that does what the event says: `{"do": …}`. It shares no code with the executor."""

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request

API = f"http://{os.environ['AWS_LAMBDA_RUNTIME_API']}/2018-06-01/runtime"


def post(path, value):
    try:
        with urllib.request.urlopen(f"{API}/{path}", json.dumps(value).encode()) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def handle(event, headers):
    what = event["do"]
    print(f"handling {what}", flush=True)
    if what == "die":
        os._exit(7)
    if what == "hang":
        # A child too, which the kill must reach: the pipe of its output stays open as long as it
        # lives.
        subprocess.Popen(["sleep", "600"], start_new_session=False)
        time.sleep(600)
    if what == "fail":
        raise ValueError("as asked")
    if what == "answer another":
        return {"status": post("invocation/no-such-request/response", {})}
    return {
        "pid": os.getpid(),
        "event": event,
        "environ": dict(os.environ),
        "headers": {name.lower(): value for name, value in headers.items()},
        "unix_ms": int(time.time() * 1000),
        "cwd": os.getcwd(),
    }


def main():
    print("starting", flush=True)
    init = os.environ.get("INIT", "well")
    if init == "dies":
        sys.exit(9)
    if init == "fails":
        post("init/error", {"errorType": "Init.Refused", "errorMessage": "as asked"})
        sys.exit(1)
    if init == "hangs":
        time.sleep(600)
    while True:
        with urllib.request.urlopen(f"{API}/invocation/next") as work:
            event, headers = json.load(work), dict(work.headers)
        request_id = headers["Lambda-Runtime-Aws-Request-Id"]
        try:
            post(f"invocation/{request_id}/response", handle(event, headers))
        except ValueError as error:
            post(f"invocation/{request_id}/error", {"errorType": "ValueError", "errorMessage": str(error)})
        print("after the answer", file=sys.stderr, flush=True)


main()

"""The Java for DynamoDB Local, and the agent that LocalStack requires with it."""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
import zipfile
from pathlib import Path

from stack.failure import Failure

OLDEST = 17
"""DynamoDB Local 1.25 is compiled for it."""


def home() -> Path:
    """The home of a recent enough Java."""
    named = os.environ.get("JAVA_HOME")
    java = str(Path(named) / "bin/java") if named else shutil.which("java")
    hint = f"install Java {OLDEST} or later (apt-get install openjdk-{OLDEST}-jre-headless), or set JAVA_HOME"
    if java is None or not Path(java).is_file():
        raise Failure("java is missing: DynamoDB Local needs it", hint)
    shown = subprocess.run([java, "-XshowSettings:properties", "-version"], capture_output=True, text=True).stderr
    properties = dict(re.findall(r"^ *(java\.home|java\.specification\.version) = (.+)$", shown, re.MULTILINE))
    version = properties.get("java.specification.version", "unknown")
    if not version.isdigit() or int(version) < OLDEST:
        raise Failure(f"{java} is version {version}: DynamoDB Local needs {OLDEST} or later", hint)
    return Path(properties["java.home"])


def write_idle_agent(jar: Path) -> None:
    """Writes an agent that does nothing.

    LocalStack starts DynamoDB Local with an agent of its own, which only lifts the limit of 20 indexes and comes from a place
    that a closed network does not reach. The class is put together here, so that no Java compiler is needed.
    """
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\nPremain-Class: IdleAgent\n\n")
        archive.writestr("IdleAgent.class", _idle_class())


def _idle_class() -> bytes:
    """`public class IdleAgent { public static void premain(String s) {} }`, see chapter 4 of the Java VM specification."""

    def utf8(text: str) -> bytes:
        return struct.pack(">BH", 1, len(text)) + text.encode()

    def class_of(name: int) -> bytes:
        return struct.pack(">BH", 7, name)

    constants = [utf8("IdleAgent"), class_of(1), utf8("java/lang/Object"), class_of(3)]
    constants += [utf8("premain"), utf8("(Ljava/lang/String;)V"), utf8("Code")]
    header = struct.pack(">IHHH", 0xCAFEBABE, 0, 52, len(constants) + 1)
    this_class = struct.pack(">HHHHHH", 0x0021, 2, 4, 0, 0, 1)  # public; no interfaces, no fields, one method
    method = struct.pack(">HHHH", 0x0009, 5, 6, 1)  # public static, with code
    code = struct.pack(">HIHHIBHH", 7, 13, 0, 1, 1, 0xB1, 0, 0)  # one local, one instruction: return
    return header + b"".join(constants) + this_class + method + code + struct.pack(">H", 0)

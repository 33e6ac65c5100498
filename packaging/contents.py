"""What is in the command: its libraries, their licences, and a list of them for others to check (SBOM)."""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import time
import uuid

ROOT = pathlib.Path(__file__).resolve().parent.parent
LICENCE_FILE = re.compile(r"(UN)?LICEN[CS]E|COPYING|COPYRIGHT|NOTICE", re.IGNORECASE)
LOCKED = re.compile(r'name = "(.+)"\nversion = "(.+)"\nsource = .+\nchecksum = "(.+)"')


def linked(metadata, target):
    """The packages of `cargo metadata` that are linked into the command.

    The metadata has the features of all the workspace together; `cargo tree` knows those of the command.
    """
    command = ["cargo", "tree", "--locked", "--package=dragline", "--edges=normal,no-proc-macro", f"--target={target}", "--prefix=none", "--format={p}"]
    tree = subprocess.run(command, cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE).stdout
    names = {tuple(line.split()[:2]) for line in tree.splitlines()}
    found = [package for package in metadata["packages"] if (package["name"], f"v{package['version']}") in names]
    return sorted(found, key=lambda package: (package["name"], package["version"]))


def licences(packages):
    """The licences of the libraries, each text once: most of them require that it comes with the command."""
    named, texts = [], {}
    for package in packages:
        if package["source"] is None:
            continue
        name = f"{package['name']} {package['version']}"
        named.append(f"{name}: {package['license']}, {package['repository']}")
        home = pathlib.Path(package["manifest_path"]).parent
        # Libraries in C have theirs in a folder of their own.
        for path in sorted([*home.glob("*"), *home.glob("*/*")]):
            if path.is_file() and LICENCE_FILE.match(path.name):
                texts.setdefault(path.read_text(errors="replace").strip(), []).append(name)
    parts = ["The command contains these libraries.", "\n".join(named)]
    parts += [f"{'-' * 80}\n{', '.join(dict.fromkeys(names))}\n\n{text}" for text, names in texts.items()]
    return "\n\n".join(parts) + "\n"


def sbom(metadata, packages):
    """A list of the packages and of what uses what, in the format of CycloneDX."""
    checksums = {(match[1], match[2]): match[3] for match in LOCKED.finditer((ROOT / "Cargo.lock").read_text())}
    references = {package["id"]: f"pkg:cargo/{package['name']}@{package['version']}" for package in packages}
    made = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"])))
    described = {"timestamp": made, "component": next(component(package, checksums) for package in packages if package["name"] == "dragline")}
    listed = [component(package, checksums) for package in packages if package["name"] != "dragline"]
    graph = [
        {"ref": references[node["id"]], "dependsOn": sorted(references[used["pkg"]] for used in node["deps"] if used["pkg"] in references)}
        for node in metadata["resolve"]["nodes"]
        if node["id"] in references
    ]
    number = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps([described, listed]))
    head = {"bomFormat": "CycloneDX", "specVersion": "1.6", "serialNumber": f"urn:uuid:{number}", "version": 1}
    return {**head, "metadata": described, "components": listed, "dependencies": graph}


def component(package, checksums):
    reference = f"pkg:cargo/{package['name']}@{package['version']}"
    checksum = checksums.get((package["name"], package["version"]))
    return {
        "type": "application" if package["name"] == "dragline" else "library",
        "bom-ref": reference,
        "name": package["name"],
        "version": package["version"],
        "licenses": [{"expression": package["license"].replace("/", " OR ")}],
        "purl": reference,
        **({"hashes": [{"alg": "SHA-256", "content": checksum}]} if checksum else {}),
    }

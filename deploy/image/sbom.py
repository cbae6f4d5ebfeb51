"""Adds Debian's packages and the jars to the bill of materials of the Python packages; prints all of it.

Run in the image: `python3 sbom.py <Python's bill> <environment>`.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# `sluice jars` puts the group before the name.
_NAMED = re.compile(r"((?P<group>[a-z][\w.]*?)_)?(?P<name>.+)-(?P<version>\d[\w.]*(-[a-zA-Z]\w*)*)\.jar")

# Jars that Maven's own files were left out of.
_GROUPS = {"spark-": "org.apache.spark", "hadoop-": "org.apache.hadoop", "scala-": "org.scala-lang"}


def main(python_bill: Path, environment: Path) -> None:
    """Prints the whole bill, in CycloneDX."""
    bill = json.loads(python_bill.read_text())
    jars = [jar_component(jar) for jar in sorted(environment.rglob("*.jar"))]
    bill["components"] = [*bill.get("components", []), *debian_components(), *jars]
    json.dump(bill, sys.stdout, indent=1)


def debian_components() -> Iterator[dict[str, Any]]:
    """One for each package that is installed."""
    listed = subprocess.run(
        ["dpkg-query", "--show", "--showformat", "${Package}\t${Version}\t${Architecture}\n"],
        capture_output=True,
        text=True,
        check=True,
    )
    for line in listed.stdout.splitlines():
        name, version, architecture = line.split("\t")
        purl = f"pkg:deb/debian/{name}@{version}?arch={architecture}"
        yield {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}


def jar_component(jar: Path) -> dict[str, Any]:
    """The jar by its own Maven coordinates, or else by its file's name."""
    written, named = _coordinates(jar), _named(jar)
    group, name, version = (
        written.get(of_maven) or named[ours] or ""
        for of_maven, ours in (("groupId", "group"), ("artifactId", "name"), ("version", "version"))
    )
    component = {
        "type": "library",
        "bom-ref": str(jar),
        "group": group,
        "name": name,
        "version": version,
        "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(jar.read_bytes()).hexdigest()}],
    }
    return component | ({"purl": f"pkg:maven/{group}/{name}@{version}"} if group and version else {})


def _named(jar: Path) -> dict[str, str | None]:
    # Names of artifacts have underscores, too, behind the version of Scala's.
    is_ours = jar.parent.parent.name == "jars"
    found = _NAMED.fullmatch(jar.name if is_ours else f"x_{jar.name}")
    if found is None:
        return {"group": None, "name": jar.stem, "version": None}
    group = next((group for name, group in _GROUPS.items() if jar.name.startswith(name)), None)
    return found.groupdict() | ({} if is_ours else {"group": group})


def _coordinates(jar: Path) -> dict[str, str]:
    """What Maven has written into the jar; nothing if it holds several others."""
    with zipfile.ZipFile(jar) as content:
        found = [name for name in content.namelist() if name.endswith("/pom.properties")]
        if len(found) != 1:
            return {}
        lines = content.read(found[0]).decode(errors="replace").splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))

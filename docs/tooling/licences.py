"""The page of licences, from the lock of the runtime's packages and from the coordinates of its jars.

`python -m docs.tooling.licences > docs/reference/licences.md` writes it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from types import MappingProxyType

from api.bootstrap.settings.engine.spark import EngineSettings
from spark_session.jars.comet_jars import COMET_JARS
from spark_session.jars.kafka_jars import KAFKA_JARS
from spark_session.jars.object_store_jars import PINNED_BUNDLES

LOCK = Path(__file__).parents[2] / "requirements.lock"
_LOCKED = re.compile(r"(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^ \\;]+)(?: ; (?P<marker>[^\\]+))?")
_CLASSIFIER = "License :: OSI Approved :: "

# Packages whose metadata does not name one licence in SPDX's words. Read from their metadata and files.
_SPELLED = MappingProxyType(
    {
        "3-Clause BSD License": "BSD-3-Clause",
        "Apache 2": "Apache-2.0",
        "Apache License 2.0": "Apache-2.0",
        "Apache Software License": "Apache-2.0",
        "BSD License": "BSD-3-Clause",
        "Dual License": "Apache-2.0 OR BSD-3-Clause",
        "ISC License": "ISC",
        "LGPL with exceptions": "LGPL-3.0-or-later with exceptions",
        "MIT License": "MIT",
        "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    }
)
_OF_PACKAGES = MappingProxyType({"uvloop": "MIT OR Apache-2.0"})
# Packages that the lock has for other systems or versions of Python, so that they are not installed here.
_ELSEWHERE = MappingProxyType(
    {
        "async-timeout": "Apache-2.0",
        "colorama": "BSD-3-Clause",
        "httpx2-jsfetch": "BSD-3-Clause",
        "tzdata": "Apache-2.0",
    }
)
# By the licence files in the jars, and by the projects' own pages where a jar has none.
_OF_JARS = MappingProxyType(
    {
        "org.apache.commons:commons-pool2": "Apache-2.0",
        "org.apache.datafusion:comet-spark-spark4.1_2.13": "Apache-2.0",
        "org.apache.iceberg:iceberg-aws-bundle": "Apache-2.0",
        "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13": "Apache-2.0",
        "org.apache.kafka:kafka-clients": "Apache-2.0",
        "org.apache.spark:spark-sql-kafka-0-10_2.13": "Apache-2.0",
        "org.apache.spark:spark-token-provider-kafka-0-10_2.13": "Apache-2.0",
        "org.checkerframework:checker-qual": "MIT",
        "org.postgresql:postgresql": "BSD-2-Clause",
    }
)
RESOLVED_WITH = MappingProxyType(
    {"org.postgresql:postgresql:42.7.8": ("org.checkerframework:checker-qual:3.49.5",)}
)
"""The jars that Maven's metadata adds to a default one."""
_HEAD = """# Licences

This page is generated from `requirements.lock`, from the metadata of the packages, and from the coordinates
of the jars that a gateway fetches. A test compares it with the lock. Licences have SPDX's
identifiers, where one exists. Sluice itself is under Apache-2.0.

## Known vulnerabilities

The lock was not checked against a list of known vulnerabilities for this page. Check it before you deploy
a gateway, and regularly afterwards:

```
pip-audit --require-hashes --disable-pip -r requirements.lock
```

For the jars and the system's packages of the image, give its bill of materials,
`/usr/share/sluice/sbom.cdx.json`, to a scanner that reads CycloneDX.
"""


@dataclass(frozen=True, slots=True)
class Locked:
    """A package of the lock. `marker` says where it is installed; empty: everywhere."""

    name: str
    version: str
    marker: str


def locked_packages(lock: str) -> Iterator[Locked]:
    r"""Yields the packages of a lock, in its order.

    >>> lock = "six==1.17.0 \\\n    --hash=sha256:0\ntzdata==1 ; sys_platform == 'win32' \\\n"
    >>> for package in locked_packages(lock):
    ...     print(package.name, package.version, package.marker or "everywhere")
    six 1.17.0 everywhere
    tzdata 1 sys_platform == 'win32'
    """
    for line in lock.splitlines():
        if found := _LOCKED.match(line):
            yield Locked(found["name"], found["version"], (found["marker"] or "").strip())


def licence_of(package: Locked) -> str:
    """Returns the licence that the package's metadata names.

    Raises:
        LookupError: it names none that is known here, or another version is installed.
    """
    try:
        installed = distribution(package.name)
    except PackageNotFoundError:
        return _ELSEWHERE[package.name]
    if package.marker == "" and installed.version != package.version:
        raise LookupError(f"{package.name} {installed.version} is installed, {package.version} is locked")
    metadata = installed.metadata
    if package.name in _OF_PACKAGES:
        return _OF_PACKAGES[package.name]
    if "License-Expression" in metadata:
        return metadata["License-Expression"]
    named = metadata["License"].strip() if "License" in metadata else ""
    if named and "\n" not in named and len(named) < 60:
        return _SPELLED.get(named, named)
    classifiers = [text.removeprefix(_CLASSIFIER) for text in metadata.get_all("Classifier") or ()]
    known = [_SPELLED[text] for text in classifiers if text in _SPELLED]
    if len(known) != 1:
        raise LookupError(f"the metadata of {package.name} names no licence that is known here")
    return known[0]


def jar_licences() -> Mapping[str, str]:
    """Returns the licence of each jar by its coordinates, in their order.

    Raises:
        LookupError: no licence is known here.
    """
    default = EngineSettings.model_fields["spark_packages"].default
    added = [jar for package in default for jar in RESOLVED_WITH.get(package, ())]
    coordinates = sorted({*default, *added, *PINNED_BUNDLES, *COMET_JARS, *KAFKA_JARS})
    return {each: _OF_JARS[each.rpartition(":")[0]] for each in coordinates}


def licences_page() -> str:
    """Returns the page."""
    return "\n".join((_HEAD, *_packages(), "", *_jars(), ""))


def _packages() -> Iterator[str]:
    licences = {package: licence_of(package) for package in locked_packages(LOCK.read_text(encoding="utf-8"))}
    yield "## Python packages"
    yield ""
    yield f"{len(licences)} packages of the runtime, by licence:"
    yield ""
    yield "| licence | packages |"
    yield "|---|---|"
    for licence, count in sorted(Counter(licences.values()).items(), key=lambda each: (-each[1], each[0])):
        yield f"| {licence} | {count} |"
    yield ""
    yield "| package | version | licence | installed where |"
    yield "|---|---|---|---|"
    for package, licence in licences.items():
        where = f"`{package.marker}`" if package.marker else "everywhere"
        yield f"| {package.name} | {package.version} | {licence} | {where} |"


def _jars() -> Iterator[str]:
    yield "## Jars"
    yield ""
    yield (
        "A gateway fetches these beside the jars of the package pyspark, whose licences are in its folder"
        " `pyspark/licenses`. Those of S3, Kafka and Comet are fetched only by gateways that use them."
    )
    yield ""
    yield "| coordinates | licence |"
    yield "|---|---|"
    for coordinates, licence in jar_licences().items():
        yield f"| `{coordinates}` | {licence} |"


if __name__ == "__main__":
    print(licences_page(), end="")

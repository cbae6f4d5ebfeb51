"""Archives Spark's loaded classes in one file, with which a test session starts in half the time.

A full run starts about fifty JVMs. Without the archive, each of them reads, verifies and links the same
classes. The JVM itself checks that the file matches its version and class path, and ignores the file if it
does not.

Source: application class data sharing (JEP 310, JEP 350).
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
ARCHIVE = REPOSITORY / ".sluice" / f"test-classes-{version('pyspark')}.jsa"
_PATIENCE_S = 300


def java_options(options: str) -> str:
    """Adds the archive to these options, if it exists."""
    return f"{options} -XX:SharedArchiveFile={ARCHIVE} -Xlog:disable" if ARCHIVE.exists() else options


def make_archive(options: str) -> None:
    """Runs a session whose JVM writes the archive at exit. If that fails, tests only take longer."""
    ARCHIVE.parent.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "tests.archived_session"]
    environment = os.environ | {"JDK_JAVA_OPTIONS": f"{options} -XX:ArchiveClassesAtExit={ARCHIVE}"}
    try:
        subprocess.run(
            command, cwd=REPOSITORY, env=environment, timeout=_PATIENCE_S, capture_output=True, check=True
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        ARCHIVE.unlink(missing_ok=True)

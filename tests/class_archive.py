"""Spark's classes as the JVM wants them, in one file: with it, a session of tests starts in half the time.

A full run starts some fifty JVMs, each of which would read, check and link the same classes. The JVM itself
tells whether the file is of its version and class path, and does without it if not.

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
    """These, and the archive if it is there."""
    return f"{options} -XX:SharedArchiveFile={ARCHIVE} -Xlog:disable" if ARCHIVE.exists() else options


def make_archive(options: str) -> None:
    """Lets a JVM leave the classes behind that it has used; without them, tests only take longer."""
    ARCHIVE.parent.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "tests.archived_session"]
    environment = os.environ | {"JDK_JAVA_OPTIONS": f"{options} -XX:ArchiveClassesAtExit={ARCHIVE}"}
    try:
        subprocess.run(
            command, cwd=REPOSITORY, env=environment, timeout=_PATIENCE_S, capture_output=True, check=True
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        ARCHIVE.unlink(missing_ok=True)
